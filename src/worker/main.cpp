// kernelpro-worker: where the hardware is. Reads requests as JSON lines on standard input and
// answers on standard output until the input ends; or works off a bundle of them.
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/base/spawn.hpp"
#include "common/base/stop_signals.hpp"
#include "common/base/unique_fd.hpp"
#include "worker/session/bundle.hpp"
#include "worker/session/session.hpp"

namespace {

using namespace kernelpro;

constexpr int usage_exit_code = 1;
constexpr int bad_input_exit_code = 2;
constexpr int environment_exit_code = 5;
constexpr int interrupted_exit_code = 130;

constexpr const char* usage =
    "kernelpro-worker: judges candidates where the hardware is.\n"
    "\n"
    "It reads JSON lines on standard input and answers on standard output; see docs/worker.md and\n"
    "schemas/worker_request.json. Usually `kernelpro` starts it.\n"
    "\n"
    "  kernelpro-worker run BUNDLE RESULTS\n"
    "\n"
    "works off a file of requests that `kernelpro optimize --workers bundle:BUNDLE` wrote, and "
    "adds\n"
    "each reply to RESULTS. The same command again goes on where it ended and repeats what "
    "failed.\n"
    "\n"
    "Example:\n"
    "  echo '{\"v\":1,\"id\":1,\"op\":\"describe\"}' | kernelpro-worker\n"
    "  kernelpro-worker run jobs jobs.out\n";

void print(const std::string& line) {
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

// Lines of standard input; gives up waiting when a stop is asked for.
class LineReader {
 public:
  [[nodiscard]] std::optional<std::string> next(const std::stop_token& stop) {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n', searched_); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        searched_ = 0;
        return line;
      }
      searched_ = buffer_.size();
      if (stop.stop_requested() || buffer_.size() > longest_worker_line || !read_more()) {
        return std::nullopt;
      }
    }
  }

 private:
  bool read_more() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, poll_ms) <= 0) {
      return true;
    }
    char part[65536];
    const ssize_t got = read(STDIN_FILENO, part, sizeof part);
    if (got > 0) {
      buffer_.append(part, static_cast<std::size_t>(got));
    }
    return got > 0;
  }

  static constexpr int poll_ms = 200;
  std::string buffer_;
  std::size_t searched_ = 0;
};

void serve(Session& session, const std::stop_token& stop) {
  LineReader reader;
  while (const std::optional<std::string> line = reader.next(stop)) {
    if (line->empty()) {
      continue;
    }
    const Result<WorkerRequest> request = parse_request(*line);
    if (!request) {
      print(error_line(refused_request_id(*line), request.error()));
      continue;
    }
    const Result<nlohmann::json> result =
        session.handle(*request, [](const WorkerEvent& event) { print(event_line(event)); }, stop);
    if (!result) {
      print(error_line(request->id, result.error()));
      continue;
    }
    const Result<std::string> reply = reply_line(request->id, *result);
    print(reply ? *reply : error_line(request->id, reply.error()));
  }
}

// This program from its beginning, as often as a GPU may be lost in one bundle. Returns when it was
// too often.
void start_anew(char** argv) {
  constexpr const char* counter = "KERNELPRO_WORKER_RESTARTS";
  constexpr int most_restarts = 5;
  const char* text = std::getenv(counter);
  const int restarts = text == nullptr ? 0 : std::atoi(text);
  if (restarts < most_restarts) {
    setenv(counter, std::to_string(restarts + 1).c_str(), 1);
    execv("/proc/self/exe", argv);
  }
}

// argv: the program, "run", the bundle, the results.
int work_off(Session& session, char** argv, const std::stop_token& stop) {
  const char* out = argv[3];
  const Result<BundleWork> work = work_off_bundle(
      session, argv[2], out,
      [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }, stop);
  if (!work) {
    std::fprintf(stderr, "kernelpro-worker: %s\n", work.error().text().c_str());
    switch (work.error().kind) {
      case ErrorKind::lost:
        start_anew(argv);
        return environment_exit_code;
      case ErrorKind::bad_input:
        return bad_input_exit_code;
      case ErrorKind::interrupted:
        return interrupted_exit_code;
      default:
        return environment_exit_code;
    }
  }
  std::fprintf(stderr, "%lld requests are answered in %s\n", static_cast<long long>(work->answered),
               out);
  if (work->evaluating_ns > 0) {
    std::fprintf(
        stderr, "a candidate was being judged for %.0f %% of %.1f s\n",
        100 * static_cast<double>(work->judging_ns) / static_cast<double>(work->evaluating_ns),
        static_cast<double>(work->evaluating_ns) / 1e9);
  }
  if (work->failed > 0) {
    std::fprintf(stderr, "%lld failed; the same command tries them again\n",
                 static_cast<long long>(work->failed));
  }
  return work->failed > 0 ? environment_exit_code : 0;
}

// Asks the work under way to stop at SIGINT and SIGTERM and, where requests come from a reader of
// the answers, at his end, however he died. Work that has not ended soon after is left where it is:
// what was started ends with us.
class StopWatch {
 public:
  StopWatch(std::stop_source& source, bool has_reader)
      : source_(source),
        signals_(block_stop_signals()),
        arriving_(signalfd(-1, &signals_, SFD_CLOEXEC)),
        parent_(has_reader ? open_process(getppid()) : UniqueFd()),
        has_reader_(has_reader),
        thread_([this] { watch(); }) {}

  // The work has ended.
  ~StopWatch() { pthread_kill(thread_.native_handle(), SIGUSR1); }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  void watch() {
    constexpr int patience_ms = 600;
    if (wait(-1) == SIGUSR1) {
      return;
    }
    source_.request_stop();
    const Deadline deadline(patience_ms);
    has_reader_ = false;
    parent_.reset();
    while (!deadline.passed()) {
      if (wait(deadline.step(patience_ms)) == SIGUSR1) {
        return;
      }
    }
    remove_own_scratch();
    std::_Exit(interrupted_exit_code);
  }

  // The signal that came; 0 when the reader is gone or the time is up.
  int wait(int timeout_ms) {
    pollfd waits[] = {{arriving_.get(), POLLIN, 0},
                      {parent_.get(), POLLIN, 0},
                      {has_reader_ ? STDOUT_FILENO : -1, 0, 0}};
    while (poll(waits, std::size(waits), timeout_ms) < 0) {
    }
    signalfd_siginfo info{};
    const bool came = (waits[0].revents & POLLIN) != 0 &&
                      read(arriving_.get(), &info, sizeof info) == sizeof info;
    return came ? static_cast<int>(info.ssi_signo) : 0;
  }

  std::stop_source& source_;
  sigset_t signals_;
  UniqueFd arriving_;
  UniqueFd parent_;  // whoever started us; a pipe that others hold too does not tell of his end
  bool has_reader_;
  std::jthread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool bundle = argc == 4 && std::strcmp(argv[1], "run") == 0;
  if (argc > 1 && !bundle) {
    const bool help = std::strcmp(argv[1], "--help") == 0;
    std::fputs(usage, help ? stdout : stderr);
    return help ? 0 : usage_exit_code;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const Result<std::filesystem::path> share = share_directory();
  if (!share) {
    std::fprintf(stderr, "kernelpro-worker: %s\n", share.error().text().c_str());
    return environment_exit_code;
  }
  remove_abandoned_scratch();
  std::stop_source source;
  const StopWatch watch(source, !bundle);
  Session session({program_directory(), *share, cache_directory()});
  if (bundle) {
    return work_off(session, argv, source.get_token());
  }
  serve(session, source.get_token());
  return 0;
}
