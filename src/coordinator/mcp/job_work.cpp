// What a process of jobs does.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/unique_fd.hpp"
#include "common/wire/json.hpp"
#include "coordinator/mcp/jobs.hpp"
#include "coordinator/mcp/lines.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int job_wait_ms = 500;
constexpr auto look_for_cancel = std::chrono::milliseconds(50);

// Keeps what is being done, a few times a second at most.
class ProgressFile {
 public:
  explicit ProgressFile(fs::path file) : file_(std::move(file)) {}

  void operator()(const Event& event) {
    json now;
    if (const auto* const activity = std::get_if<Activity>(&event)) {
      now = {{"message", activity->text}};
    } else if (const auto* const loop = std::get_if<LoopProgress>(&event);
               loop != nullptr && !loop->doing.empty()) {
      now = {{"message", loop->doing}, {"done", loop->judged}, {"of", loop->budget}};
    } else if (const auto* const begun = std::get_if<RunBegun>(&event)) {
      now = {{"message", "working on run " + begun->run}};
    } else {
      return;
    }
    constexpr std::int64_t pause_ns = 250'000'000;
    if (last_ns_ == 0 || now_ns() - last_ns_ > pause_ns) {
      last_ns_ = now_ns();
      (void)write_file_unsynced(file_, now.dump(-1, ' ', false, json::error_handler_t::replace));
    }
  }

 private:
  fs::path file_;
  std::int64_t last_ns_ = 0;
};

json outcome_of(const Result<json>& done, bool stopped) {
  if (done) {
    return {{"state", "completed"}, {"result", *done}};
  }
  if (stopped) {
    return {{"state", "cancelled"}};
  }
  return {{"state", "failed"}, {"error", done.error().text()}};
}

// Of a job that could not begin, or whose result could not be kept.
void keep_failure(const fs::path& folder, const Error& error) {
  fmt::print(stderr, "{}: {}\n", folder.string(), error.text());
  if (!fs::exists(folder / "result.json")) {
    const json failed = {{"state", "failed"}, {"error", error.text()}};
    (void)write_file_atomic(folder / "result.json",
                            failed.dump(-1, ' ', false, json::error_handler_t::replace));
  }
}

}  // namespace

Status work_job(const fs::path& folder, KeptWorker& kept, std::stop_token stop) {
  const fs::path lock_file = folder / "lock";
  const UniqueFd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno_error("locking " + lock_file.string());
  }
  KP_LET(const std::string text, read_file(folder / "request.json"));
  KP_LET(const json request, parse_json(text));
  const Tool* const tool = find_tool(request.value("tool", ""));
  if (tool == nullptr || tool->call == nullptr) {
    return make_error(ErrorKind::bad_input, "it names no tool", (folder / "request.json").string());
  }
  std::stop_source ended;
  const std::stop_callback passed_on(stop, [&ended] { ended.request_stop(); });
  const std::jthread cancelled([&](const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any pause;
    std::unique_lock held(mutex);
    while (!done.stop_requested() && !fs::exists(folder / "cancel")) {
      pause.wait_for(held, done, look_for_cancel, [] { return false; });
    }
    if (!done.stop_requested()) {
      ended.request_stop();
    }
  });
  ToolSetting setting;
  setting.store = request.value("store", "");
  setting.scratch = folder;
  setting.client = request.value("client", "");
  setting.remote = request.value("remote", false);
  setting.watcher = ProgressFile(folder / "progress.json");
  setting.kept = &kept;
  setting.stop = ended.get_token();
  const Result<json> done = tool->call(request.value("arguments", json::object()), setting);
  const json outcome = outcome_of(done, ended.stop_requested());
  return write_file_atomic(folder / "result.json",
                           outcome.dump(-1, ' ', false, json::error_handler_t::replace));
}

Status work_jobs(int input, int output, std::stop_token stop) {
  KeptWorker kept;
  Lines lines;
  while (!stop.stop_requested()) {
    const std::optional<std::string> bytes = read_some(input, job_wait_ms);
    if (!bytes) {
      break;
    }
    lines.add(*bytes);
    for (std::optional<Lines::Line> line; (line = lines.next());) {
      if (const Status done = work_job(line->text, kept, stop); !done) {
        keep_failure(line->text, done.error());
      }
      (void)(::write(output, "\n", 1) < 0);  // whoever started us may have left
    }
  }
  return {};
}

}  // namespace kernelpro::mcp
