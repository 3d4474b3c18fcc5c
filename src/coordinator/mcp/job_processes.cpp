#include "coordinator/mcp/job_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/base/spawn.hpp"
#include "common/wire/json.hpp"
#include "coordinator/mcp/arguments.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

// Each holds the memory of an open task.
constexpr std::ptrdiff_t most_that_stay = 2;
constexpr std::int64_t longest_idle_ns = 300'000 * ns_per_ms;

// Which task candidates of that job are judged by, and how; empty: it judges none, or its process
// shall not stay, because an open task holds memory of a GPU.
Result<std::string> task_to_keep(const std::filesystem::path& folder) {
  KP_LET(const std::string text, read_file(folder / "request.json"));
  KP_LET(const json request, parse_json(text));
  if (request.value("tool", "") != "evaluate") {
    return std::string();
  }
  const json& arguments = request["arguments"];
  const Backend backend = backend_of(arguments);
  return traits_of(backend).gpu
             ? ""
             : text_of(arguments, "task") + " " + arguments.value("mode", "timed");
}

}  // namespace

Result<JobProcesses::One> JobProcesses::launch(const std::filesystem::path& folder) {
  Command command;
  command.arguments = {(program_directory() / "kernelpro").string(), "mcp", "--jobs"};
  command.inherit_environment = true;
  KP_LET(Pipe jobs, make_pipe());
  KP_LET(Pipe news, make_pipe());
  const UniqueFd log(
      ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  One one;
  KP_LET(
      one.pid,
      spawn(command, {.input = jobs.read.get(), .output = news.write.get(), .errors = log.get()}));
  if (::fcntl(news.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return errno_error("watching a job");
  }
  one.jobs = std::move(jobs.write);
  one.news = std::move(news.read);
  return one;
}

std::ptrdiff_t JobProcesses::count_staying() const {
  return std::ranges::count_if(running_, [](const One& one) { return one.jobs.valid(); });
}

// Its result is there, so that it is about to say that it is done.
void JobProcesses::hear_if_done(One& one) {
  constexpr int longest_ms = 500;
  if (one.busy && one.news.valid() && std::filesystem::exists(one.folder / "result.json")) {
    pollfd news{one.news.get(), POLLIN, 0};
    ::poll(&news, 1, longest_ms);
    hear(one);
  }
}

// The one that has it open, else another that stays once as many do as may.
JobProcesses::One* JobProcesses::idle_for(const std::string& task) {
  for (One& one : running_) {
    if (one.task == task) {
      hear_if_done(one);
    }
  }
  const auto waits = [](const One& one) { return !one.busy && one.jobs.valid(); };
  const auto same = std::ranges::find_if(
      running_, [&](const One& one) { return waits(one) && one.task == task; });
  if (same != running_.end()) {
    return &*same;
  }
  const auto any = std::ranges::find_if(running_, waits);
  return count_staying() < most_that_stay || any == running_.end() ? nullptr : &*any;
}

bool JobProcesses::give(One& one, const std::filesystem::path& folder) {
  const std::string line = folder.string() + "\n";
  one.folder = folder;
  one.busy = ::write(one.jobs.get(), line.data(), line.size()) == std::ssize(line);
  if (!one.busy) {
    one.jobs = {};
  }
  return one.busy;
}

Status JobProcesses::start(const std::filesystem::path& folder) {
  reap();
  KP_LET(const std::string task, task_to_keep(folder));
  One* const waiting = task.empty() ? nullptr : idle_for(task);
  if (waiting != nullptr && give(*waiting, folder)) {
    waiting->task = task;
    return {};
  }
  return start_fresh(folder, task, false);
}

Status JobProcesses::start_fresh(const std::filesystem::path& folder, const std::string& task,
                                 bool again) {
  KP_LET(One fresh, launch(folder));
  fresh.task = task;
  fresh.again = again;
  if (!give(fresh, folder)) {
    return errno_error("giving a job to its process");
  }
  if (task.empty() || count_staying() >= most_that_stay) {
    fresh.jobs = {};
  }
  running_.push_back(std::move(fresh));
  return {};
}

void JobProcesses::hear(One& one) {
  std::array<char, 64> lines;
  const ssize_t got = ::read(one.news.get(), lines.data(), lines.size());
  if (got > 0) {
    one.busy = false;
    one.again = false;
    one.idle_since_ns = now_ns();
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    one.news = {};
    one.jobs = {};
  }
}

void JobProcesses::reap() {
  for (One& one : running_) {
    if (one.news.valid()) {
      hear(one);
    }
    if (!one.busy && one.jobs.valid() && now_ns() - one.idle_since_ns > longest_idle_ns) {
      one.jobs = {};
    }
  }
  const auto dead = std::ranges::partition(running_, [](const One& one) {
    return one.jobs.valid() || ::waitpid(one.pid, nullptr, WNOHANG) == 0;
  });
  std::vector<One> ended(std::make_move_iterator(dead.begin()),
                         std::make_move_iterator(dead.end()));
  running_.erase(dead.begin(), dead.end());
  for (const One& one : ended) {
    look_after_job(one);
  }
}

void JobProcesses::look_after_job(const One& dead) {
  if (!dead.busy || std::filesystem::exists(dead.folder / "result.json")) {
    return;
  }
  const bool begun = std::filesystem::exists(dead.folder / "lock");
  if (!begun && !dead.again && start_fresh(dead.folder, dead.task, true)) {
    return;
  }
  const json lost = {{"state", "lost"},
                     {"error", "its process was ended from outside; call the tool again"}};
  (void)write_file_atomic(dead.folder / "result.json", lost.dump());
}

std::vector<int> JobProcesses::news() const {
  std::vector<int> list;
  for (const One& one : running_) {
    if (one.news.valid()) {
      list.push_back(one.news.get());
    }
  }
  return list;
}

}  // namespace kernelpro::mcp
