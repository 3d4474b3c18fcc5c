#include "worker/runner/runner_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/random.hpp"
#include "common/base/spawn.hpp"
#include "worker/runner/runner_messages.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t printed_limit = 64 * 1024;

// How many processes the kernel has ended for want of memory since it was started.
std::int64_t oom_kills() {
  std::ifstream file("/proc/vmstat");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view name = "oom_kill ";
    if (line.starts_with(name)) {
      return std::atoll(line.c_str() + name.size());
    }
  }
  return 0;
}

struct Pairs {
  UniqueFd socket_ours;
  UniqueFd socket_theirs;
  UniqueFd output_ours;
  UniqueFd output_theirs;
};

Result<Pairs> make_pairs() {
  int sockets[2];
  int pipes[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return errno_error("making a socket pair");
  }
  Pairs pairs;
  pairs.socket_ours = UniqueFd(sockets[0]);
  pairs.socket_theirs = UniqueFd(sockets[1]);
  // Non-blocking on both ends: a candidate that prints a megabyte loses it and goes on.
  if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0) {
    return errno_error("making a pipe");
  }
  pairs.output_ours = UniqueFd(pipes[0]);
  pairs.output_theirs = UniqueFd(pipes[1]);
  return pairs;
}

// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_runner(const Pairs& pairs, char* const* arguments,
                                char* const* environment, pid_t parent) {
  setsid();
  // From the first moment on; the jail asks for it again when it has changed its user.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
    _exit(jail_failed_exit_code);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(pairs.output_theirs.get(), STDOUT_FILENO);
  dup2(pairs.output_theirs.get(), STDERR_FILENO);
  // The source may be control_fd itself, where dup2 would leave close-on-exec in force.
  const int parked = fcntl(pairs.socket_theirs.get(), F_DUPFD, 64);
  dup2(parked, runner::control_fd);
  if (chdir("/") == 0) {
    execve(arguments[0], arguments, environment);
  }
  _exit(jail_failed_exit_code);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& text : strings) {
    out.push_back(const_cast<char*>(text.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

// Each OpenMP thread on a processor of its own. Left to the scheduler, threads that are stopped and
// let go together often share one for a whole round, which makes short parallel loops several times
// slower than anywhere else. The places are named, because the jail hides the folders from which
// OpenMP would read them.
std::vector<std::string> openmp_environment(int threads) {
  std::string places;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(0, sizeof processors, &processors);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &processors)) {
      places += (places.empty() ? "{" : ",{") + std::to_string(i) + "}";
    }
  }
  return {"LC_ALL=C", "OMP_NUM_THREADS=" + std::to_string(threads), "OMP_PROC_BIND=spread",
          "OMP_PLACES=" + places};
}

std::vector<std::string> program_arguments(const RunnerSettings& settings) {
  std::vector<std::string> out = {settings.program};
  out.insert(out.end(), settings.arguments.begin(), settings.arguments.end());
  if (settings.cuda) {
    out.emplace_back(runner::cuda_argument);
  }
  if (!settings.cupti.empty()) {
    out.emplace_back(runner::trace_argument);
    out.push_back(settings.cupti);
  }
  return out;
}

}  // namespace

Result<RunnerProcess> RunnerProcess::start(const RunnerSettings& settings) {
  KP_LET(Pairs pairs, make_pairs());
  JailPolicy policy = settings.policy;
  policy.keep_fds = {runner::control_fd};
  policy.read.insert(policy.read.end(), settings.start_up_read.begin(),
                     settings.start_up_read.end());
  policy.write.insert(policy.write.end(), settings.start_up_write.begin(),
                      settings.start_up_write.end());
  const std::vector<std::string> arguments =
      jail_arguments(settings.jail, policy, program_arguments(settings));
  std::vector<std::string> environment = openmp_environment(settings.threads);
  environment.insert(environment.end(), settings.environment.begin(), settings.environment.end());
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  RunnerProcess process;
  process.oom_kills_ = oom_kills();
  const pid_t parent = getpid();
  process.pid_ = fork();
  if (process.pid_ == 0) {
    become_runner(pairs, argument_pointers.data(), environment_pointers.data(), parent);
  }
  if (process.pid_ < 0) {
    return errno_error("starting " + settings.program);
  }
  process.pidfd_ = open_process(process.pid_);
  process.socket_ = std::move(pairs.socket_ours);
  process.output_ = std::move(pairs.output_ours);
  process.sequence_ = static_cast<std::uint32_t>(secret_seed());
  process.stop_ = settings.stop;
  process.spin_ = settings.spin;
  process.stop_timeout_ms_ = settings.stop_timeout_ms;
  pairs.socket_theirs.reset();
  pairs.output_theirs.reset();
  if (settings.greet_later) {
    process.ungreeted_ = settings;
  } else {
    KP_TRY(process.greet(settings));
  }
  return process;
}

Status RunnerProcess::greet(const RunnerSettings& settings) {
  const std::int64_t deadline = now_ns() + settings.greeting_timeout_ms * 1'000'000;
  while (now_ns() < deadline && alive() && !stop_.stop_requested()) {
    if (!poll_once(poll_slice_ms)) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = -1;
        break;
      }
      continue;
    }
    Incoming hello = receive_reply(socket_.get());
    if (!hello.whole || hello.reply.kind != runner::ReplyKind::hello) {
      break;
    }
    std::vector<std::string> writable = settings.policy.write;
    writable.insert(writable.end(), settings.policy.devices.begin(), settings.policy.devices.end());
    if (settings.cuda) {
      // The driver names the threads it starts.
      writable.push_back("/proc/" + std::to_string(pid_) + "/task");
    }
    watch_ = SandboxWatch(std::move(hello.fd), pid_, settings.policy.read, std::move(writable));
    Exchange stopping;
    if (stop_process(stopping)) {
      return {};
    }
    break;
  }
  const std::string said = printed();
  kill_process();
  if (stop_.stop_requested()) {
    return make_error(ErrorKind::interrupted, "a stop was asked for",
                      "starting " + settings.program);
  }
  return make_error(ErrorKind::environment,
                    said.empty() ? "it did not greet; run `kernelpro doctor`" : said,
                    "starting " + settings.program);
}

bool RunnerProcess::ends_by_itself() {
  constexpr std::int64_t patience_ns = 1'000'000'000;
  const std::int64_t deadline = now_ns() + patience_ns;
  pollfd ended{pidfd_.get(), POLLIN, 0};
  while (poll(&ended, 1, poll_slice_ms) <= 0) {
    if (stop_.stop_requested() || now_ns() > deadline) {
      return false;
    }
  }
  return true;
}

void RunnerProcess::reap(Exchange& out) {
  out.end = ExchangeEnd::died;
  // A process that hung up its socket but lives on is as good as dead to us.
  const bool killed = !ends_by_itself();
  if (killed) {
    kill(pid_, SIGKILL);
  }
  const int status = reap_killed(pid_).value_or(SIGKILL);
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    out.signal = WTERMSIG(status);
    out.memory_ran_out = !killed && out.signal == SIGKILL && oom_kills() > oom_kills_;
  } else {
    out.exit_code = WEXITSTATUS(status);
  }
  // A fault report may have been overtaken by the death.
  for (Incoming left = receive_reply(socket_.get()); left.waiting;
       left = receive_reply(socket_.get())) {
    if (left.whole && left.reply.kind == runner::ReplyKind::fault) {
      out.fault = left.reply;
    }
  }
}

void RunnerProcess::kill_process() {
  if (pid_ > 0) {
    // With its group, of which it is the leader: PyTorch starts processes to compile with.
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    reap_killed(std::exchange(pid_, -1));
  }
}

const std::string& RunnerProcess::printed() {
  char buffer[4096];
  ssize_t got = 0;
  while (printed_.size() < printed_limit &&
         (got = read(output_.get(), buffer, sizeof buffer)) > 0) {
    printed_.append(buffer, static_cast<std::size_t>(got));
  }
  return printed_;
}

RunnerProcess::RunnerProcess(RunnerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      socket_(std::move(other.socket_)),
      output_(std::move(other.output_)),
      printed_(std::move(other.printed_)),
      sequence_(other.sequence_),
      watch_(std::move(other.watch_)),
      stop_(std::move(other.stop_)),
      spin_(other.spin_),
      stop_timeout_ms_(other.stop_timeout_ms_),
      ungreeted_(std::move(other.ungreeted_)),
      end_(other.end_),
      oom_kills_(other.oom_kills_) {}

RunnerProcess& RunnerProcess::operator=(RunnerProcess&& other) noexcept {
  if (this != &other) {
    kill_process();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    socket_ = std::move(other.socket_);
    output_ = std::move(other.output_);
    printed_ = std::move(other.printed_);
    sequence_ = other.sequence_;
    watch_ = std::move(other.watch_);
    stop_ = std::move(other.stop_);
    spin_ = other.spin_;
    stop_timeout_ms_ = other.stop_timeout_ms_;
    ungreeted_ = std::move(other.ungreeted_);
    end_ = other.end_;
    oom_kills_ = other.oom_kills_;
  }
  return *this;
}

RunnerProcess::~RunnerProcess() {
  kill_process();
}

}  // namespace kernelpro
