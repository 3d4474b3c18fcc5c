#include "jail/guardian.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "common/base/deadline.hpp"

namespace kernelpro {

namespace {

Error failed(const char* doing) {
  return make_error(ErrorKind::environment, std::strerror(errno), doing);
}

// Everything that descends from us. Who loses its parent becomes our child (we are its subreaper),
// so killing children until there are none reaches them all. Bounded: a process in the kernel's
// hands is not waited for.
void end_descendants() {
  constexpr std::int64_t patience_ms = 1000;
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  const Deadline deadline(patience_ms);
  while (!deadline.passed()) {
    std::ifstream children("/proc/thread-self/children");
    for (pid_t child = 0; children >> child;) {
      kill(child, SIGKILL);
    }
    const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0 && errno == ECHILD) {
      return;
    }
    if (reaped == 0) {
      nanosleep(&pause, nullptr);
    }
  }
}

std::vector<pid_t> children_of(const std::string& process) {
  std::vector<pid_t> out;
  std::error_code gone;
  std::filesystem::directory_iterator task("/proc/" + process + "/task", gone);
  for (; !gone && task != std::filesystem::directory_iterator(); task.increment(gone)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) {
      out.push_back(child);
    }
  }
  return out;
}

// Processor time of `process`, of the children it has waited for, and of those that live.
std::int64_t used_ticks(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // a name may hold anything
  std::istringstream fields(name_end == std::string::npos ? "" : line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) {
    fields >> skipped;
  }
  std::int64_t total = 0;
  std::int64_t ticks = 0;
  for (int field = 14; field <= 17 && fields >> ticks; ++field) {
    total += ticks;  // utime, stime, cutime, cstime of proc(5)
  }
  for (const pid_t child : children_of(process)) {
    total += used_ticks(std::to_string(child));
  }
  return total;
}

bool used_up(std::int64_t limit_ms) {
  return limit_ms > 0 && used_ticks("self") * 1000 / sysconf(_SC_CLK_TCK) >= limit_ms;
}

// Ends as the program did.
[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{.rlim_cur = 1, .rlim_max = 1};  // as in the jail
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(WTERMSIG(status), SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    raise(WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

// Reaps until `program` has ended; false while it runs.
bool reap(pid_t program, int& program_status) {
  int status = 0;
  for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0;
       ended = waitpid(-1, &status, WNOHANG)) {
    if (ended == program) {
      program_status = status;
      return true;
    }
  }
  return false;
}

[[noreturn]] void watch_over(pid_t program, const sigset_t& signals, std::int64_t cpu_limit_ms) {
  constexpr timespec step{.tv_sec = 0, .tv_nsec = 100'000'000};
  for (;;) {
    const int got =
        cpu_limit_ms > 0 ? sigtimedwait(&signals, nullptr, &step) : sigwaitinfo(&signals, nullptr);
    int status = 0;
    if (got < 0 && used_up(cpu_limit_ms)) {
      end_descendants();
      end_as(SIGXCPU);
    }
    if (got == SIGCHLD && reap(program, status)) {
      end_descendants();
      end_as(status);
    }
    if (got > 0 && got != SIGCHLD) {
      end_descendants();
      end_as(SIGKILL);  // as a wait status: what we did to the program
    }
  }
}

}  // namespace

Status continue_under_guard(pid_t parent, std::int64_t cpu_limit_ms) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&signals, signal);
  }
  sigprocmask(SIG_BLOCK, &signals, &before);
  std::signal(SIGCHLD, SIG_DFL);
  // SIGTERM and not SIGKILL: we have work to do when the parent dies.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
    return failed("becoming a guardian");
  }
  if (getppid() != parent) {
    return make_error(ErrorKind::lost, "the parent is gone already");
  }
  const pid_t program = fork();
  if (program < 0) {
    return failed("starting what is guarded");
  }
  if (program > 0) {
    watch_over(program, signals, cpu_limit_ms);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return {};
}

}  // namespace kernelpro
