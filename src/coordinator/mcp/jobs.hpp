// Work of tools that takes its time: kept in files, done by processes that nobody's connection
// ends.
//
//   STORE/jobs/ID/request.json    tool, arguments, client, whether that one is remote
//                 about.json      tool, owner, when it was created
//                 progress.json   what is being done
//                 result.json     how it ended
//                 cancel          somebody wants it ended
//                 lock            held while it is worked on
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/kept_worker.hpp"

namespace kernelpro::mcp {

// Has somebody call work_job for that folder, and does not wait for it.
using Launcher = std::function<Status(const std::filesystem::path& folder)>;

struct JobRights {
  bool remote = false;  // as in ToolSetting
  std::string owner;    // whose jobs are seen and ended alone; empty: those of all
};

class Jobs {
 public:
  Jobs(std::filesystem::path store, Launcher launch, JobRights rights = {})
      : store_(std::move(store)), launch_(std::move(launch)), rights_(std::move(rights)) {}

  // Returns its id, which nobody can guess. Of jobs that ended only the newest hundreds stay. An
  // error of kind busy where as many work as may.
  [[nodiscard]] Result<std::string> start(const std::string& tool, const nlohmann::json& arguments,
                                          const std::string& client);

  // Its id, tool, when it was created, `state` (working, completed, failed, cancelled or lost);
  // `message` and `progress` while it works, `result` or `error` at its end. One that was cancelled
  // is so at once, though its process may need a moment. An error where there is no such job.
  [[nodiscard]] Result<nlohmann::json> look(const std::string& id) const;
  [[nodiscard]] Status cancel(const std::string& id) const;
  // The newest first, without their results.
  [[nodiscard]] nlohmann::json latest() const;

 private:
  [[nodiscard]] Result<std::filesystem::path> folder_of(const std::string& id) const;
  [[nodiscard]] bool may_see(const std::filesystem::path& folder) const;
  [[nodiscard]] Status need_room(const std::vector<std::filesystem::path>& folders) const;
  static void remove_old(const std::vector<std::filesystem::path>& folders);

  std::filesystem::path store_;
  Launcher launch_;
  JobRights rights_;
};

// Does what the request of that folder says, and keeps how it ended. A stop cancels it. `kept` may
// judge, and stays as it is left.
[[nodiscard]] Status work_job(const std::filesystem::path& folder, KeptWorker& kept,
                              std::stop_token stop);

// What a process of jobs does: the work of each folder named by a line of `input`, until its end.
// Writes a line to `output` behind each.
[[nodiscard]] Status work_jobs(int input, int output, std::stop_token stop);

}  // namespace kernelpro::mcp
