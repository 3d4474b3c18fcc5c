// One client: messages in, messages out, whatever carries them.
//
// Two revisions of the protocol. Of 2026-07-28 every request says all of itself; of 2025-11-25 a
// client begins with `initialize`, and that holds for the session. Nothing here blocks: work that
// takes long is a job, and `tick` tells of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/mcp/catalog.hpp"
#include "coordinator/mcp/jobs.hpp"

namespace kernelpro::mcp {

struct SessionSettings {
  std::filesystem::path store;
  Launcher launch = {};               // NOLINT(readability-redundant-member-init)
  std::int64_t patience_ms = 45'000;  // then work is told as a job
  bool remote = false;                // as in ToolSetting
  std::string owner = {};             // as in JobRights; NOLINT(readability-redundant-member-init)
  const Catalog* catalog = nullptr;   // none: the product's own
};

class Session {
 public:
  // Takes one message, a line without its end.
  using Send = std::function<void(const std::string& line)>;

  Session(SessionSettings settings, Send send);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // One message of the client.
  void take(const std::string& line);
  // It sent one that is longer than any may be.
  void refuse_long_line();
  // Nobody waits any more for the answer to the request of that id. Its work goes on.
  void forget(const nlohmann::json& id);
  // Answers what has ended since, tells of progress, and gives up waiting where it is time.
  void tick();
  // Whether `tick` has anything to look after.
  [[nodiscard]] bool waits() const;

 private:
  struct Request;  // as it came
  struct Waiting;  // for a job

  [[nodiscard]] bool choose_era(Request& request);
  void handle(Request& request);
  void handle_notification(const std::string& method, const nlohmann::json& params);
  void initialize(const Request& request);
  void list_tools(const Request& request);
  void call_tool(const Request& request);
  void call_job_tool(const Request& request, const nlohmann::json& arguments);
  void start_job(const Request& request, const std::string& tool, const nlohmann::json& arguments);
  void read_resource(const Request& request);
  void get_prompt(const Request& request);
  void complete(const Request& request);
  void set_level(const Request& request);
  void handle_task(const Request& request);
  // Whether it is answered now.
  [[nodiscard]] bool look_after(Waiting& one);
  void answer_ended(const Waiting& one, const nlohmann::json& job);
  void answer_unended(const Waiting& one, const nlohmann::json& job);
  void tell_progress(Waiting& one, const nlohmann::json& job);
  // Whether who asked wants to read what is being done.
  [[nodiscard]] bool wants_log(const Request& request) const;

  [[nodiscard]] const Catalog& catalog() const;
  void answer(const Request& request, nlohmann::json result);
  void refuse(const Request& request, int code, const std::string& text);

  SessionSettings settings_;
  Send send_;
  Jobs jobs_;
  bool initialized_ = false;
  std::string client_ = "unknown";
  std::string log_level_;  // of the older revision; empty: nothing is to be sent
  std::vector<std::unique_ptr<Waiting>> waiting_;
};

}  // namespace kernelpro::mcp
