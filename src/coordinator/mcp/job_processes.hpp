// Jobs as processes of this program, each in a group of its own: they outlive us.
//
// One that judges candidates stays when its job has ended, and keeps the task open for the next.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro::mcp {

class JobProcesses {
 public:
  [[nodiscard]] Status start(const std::filesystem::path& folder);
  // Takes note of those that have ended a job or themselves.
  void reap();
  // One of these is readable when `reap` finds something.
  [[nodiscard]] std::vector<int> news() const;

 private:
  struct One {
    pid_t pid = -1;
    UniqueFd jobs;                 // whose end ends it
    UniqueFd news;                 // a line for each job that has ended
    std::string task;              // that it has open, and how; empty: it does not stay
    std::filesystem::path folder;  // of the job it was given last
    bool again = false;            // that job was given to one before, which died
    bool busy = false;
    std::int64_t idle_since_ns = 0;
  };

  [[nodiscard]] One* idle_for(const std::string& task);
  [[nodiscard]] Status start_fresh(const std::filesystem::path& folder, const std::string& task,
                                   bool again);
  [[nodiscard]] std::ptrdiff_t count_staying() const;
  // Its errors go to a log in the folder.
  [[nodiscard]] static Result<One> launch(const std::filesystem::path& folder);
  // False: it is no longer there.
  [[nodiscard]] static bool give(One& one, const std::filesystem::path& folder);
  static void hear(One& one);
  static void hear_if_done(One& one);
  // Says of the job of one that has died how it ended, or has it done by another.
  void look_after_job(const One& dead);

  std::vector<One> running_;
};

}  // namespace kernelpro::mcp
