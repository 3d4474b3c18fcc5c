#include "common/base/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"

namespace kernelpro {
namespace {

// How long a program may take to be loaded, and a killed process to be gone: far more than either
// takes on the busiest machine.
constexpr std::int64_t start_patience_ms = 10'000;
constexpr std::int64_t death_patience_ms = 5'000;

// What the child says over the status pipe when it does not get to run the program.
struct StartFailure {
  enum Step : int { directory, program } step = program;
  int error = 0;
};

// All that the child needs, made before the fork: between fork and exec it may not allocate.
struct Image {
  std::string program;
  std::string directory;
  std::vector<std::string> environment;
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  pid_t parent = 0;  // whose thread's end is the child's end; 0: nobody's
};

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> variables;
  if (command.inherit_environment) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos) {
        variables[text.substr(0, equals)] = text.substr(equals + 1);
      }
    }
  } else if (const char* path = std::getenv("PATH")) {
    variables["PATH"] = path;
  }
  for (const auto& [name, value] : command.environment) {
    variables[name] = value;
  }
  std::vector<std::string> list;
  list.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    list.push_back(name + "=" + value);
  }
  return list;
}

bool is_executable(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

Result<std::string> program_of(const Command& command) {
  if (command.arguments.empty() || command.arguments[0].empty()) {
    return make_error(ErrorKind::internal, "a command without a program was to be started");
  }
  const std::string& name = command.arguments[0];
  if (name.find('/') != std::string::npos) {
    return absolute_path(name);
  }
  if (std::optional<std::string> found = find_program(name)) {
    return *found;
  }
  return make_error(ErrorKind::environment, "cannot start '" + name +
                                                "': PATH has no such program; install it or add "
                                                "its folder to PATH");
}

void close_others_on_exec() {
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
    return;
  }
  const long limit = ::sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < limit; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    ::sigaction(number, &standard, nullptr);  // fails for SIGKILL and SIGSTOP, as it should
  }
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void give_up(int status_fd, StartFailure::Step step) {
  const StartFailure failure{step, errno};
  // Nobody is left to hear of a failing write: the parent then sees the exit code only.
  [[maybe_unused]] const ssize_t written = ::write(status_fd, &failure, sizeof failure);
  ::_exit(127);
}

// Runs in the child: only calls that are safe after a fork of a process with threads.
[[noreturn]] void become(const Image& image, const StandardFds& fds, int status_fd) {
  ::setpgid(0, 0);
  const int given[] = {fds.input, fds.output, fds.errors};
  for (int target = 0; target < 3; ++target) {
    if (given[target] >= 0 && ::dup2(given[target], target) < 0) {
      give_up(status_fd, StartFailure::program);
    }
  }
  if (!image.directory.empty() && ::chdir(image.directory.c_str()) != 0) {
    give_up(status_fd, StartFailure::directory);
  }
  close_others_on_exec();
  reset_signals();
  if (image.parent != 0 &&
      (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != image.parent)) {
    give_up(status_fd, StartFailure::program);
  }
  ::execve(image.program.c_str(), image.argument_pointers.data(),
           image.environment_pointers.data());
  give_up(status_fd, StartFailure::program);
}

// Forks with every signal blocked, so that no handler of ours runs in the child.
pid_t fork_quietly(const Image& image, const StandardFds& fds, int status_fd) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(image, fds, status_fd);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// The status pipe closes when the program runs.
std::optional<StartFailure> read_failure(int fd) {
  StartFailure failure;
  const Deadline deadline(start_patience_ms);
  pollfd wait{fd, POLLIN, 0};
  while (::poll(&wait, 1, deadline.step(start_patience_ms)) <= 0) {
    if (deadline.passed()) {
      return StartFailure{StartFailure::program, ETIMEDOUT};
    }
  }
  ssize_t count = 0;
  do {
    count = ::read(fd, &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof failure)) {
    return std::nullopt;
  }
  return failure;
}

Error describe(const StartFailure& failure, const Image& image) {
  const std::string reason = std::generic_category().message(failure.error);
  if (failure.step == StartFailure::directory) {
    return make_error(
        ErrorKind::environment,
        "cannot start '" + image.program + "' in the folder '" + image.directory + "': " + reason);
  }
  return make_error(ErrorKind::environment,
                    "cannot start '" + image.program + "': " + reason +
                        "; check that it exists, may be executed and fits this machine");
}

// Makes sure that a descriptor is not one of 0, 1 and 2, which the child replaces.
bool move_above_standard(UniqueFd& fd) {
  if (fd.get() > 2) {
    return true;
  }
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved.valid()) {
    return false;
  }
  fd = std::move(moved);
  return true;
}

// Whether the child has ended; then `status` is its wait status and it is reaped. A child that is
// not ours any more counts as ended.
bool try_reap(pid_t pid, int& status) {
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  return got == pid || (got < 0 && errno != EINTR);
}

// Killed processes that were not gone when we stopped waiting for them.
class Undead {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.push_back(pid);
  }
  void reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(pids_, [](pid_t pid) {
      int unused = 0;
      return try_reap(pid, unused);
    });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

Undead& undead() {
  static Undead one;
  return one;
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return errno_error("making a pipe");
  }
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (!move_above_standard(pipe.read) || !move_above_standard(pipe.write)) {
    return errno_error("making a pipe");
  }
  return pipe;
}

Result<pid_t> spawn(const Command& command, const StandardFds& fds) {
  KP_LET(std::string program, program_of(command));
  Image image;
  image.program = program;
  image.directory = command.directory;
  image.parent = command.ends_with_us ? ::getpid() : 0;
  image.environment = environment_of(command);
  image.argument_pointers = pointers_to(command.arguments);
  image.environment_pointers = pointers_to(image.environment);

  KP_LET(Pipe status, make_pipe());
  const pid_t pid = fork_quietly(image, fds, status.write.get());
  if (pid < 0) {
    Error error = errno_error("starting " + image.program);
    error.kind = ErrorKind::environment;
    return error;
  }
  ::setpgid(pid, pid);  // also done by the child: whoever comes first
  status.write.reset();
  if (std::optional<StartFailure> failure = read_failure(status.read.get())) {
    kill_group(pid);
    return describe(*failure, image);
  }
  return pid;
}

UniqueFd open_process(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

int kill_group(pid_t pid) {
  ::kill(-pid, SIGKILL);
  return reap_killed(pid).value_or(SIGKILL);
}

void end_guarded(pid_t guardian, int process) {
  constexpr std::int64_t patience_ms = 500;
  ::kill(guardian, SIGTERM);
  const Deadline deadline(patience_ms);
  pollfd ended{process, POLLIN, 0};
  while (::poll(&ended, 1, deadline.step(patience_ms)) <= 0 && !deadline.passed()) {
  }
}

std::optional<int> reap_killed(pid_t pid) {
  undead().reap();
  const UniqueFd process = open_process(pid);
  const Deadline deadline(death_patience_ms);
  int status = SIGKILL;
  while (!try_reap(pid, status)) {
    if (deadline.passed()) {
      undead().add(pid);
      return std::nullopt;
    }
    if (process.valid()) {
      pollfd ended{process.get(), POLLIN, 0};
      ::poll(&ended, 1, deadline.step(100));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return status;
}

std::optional<std::string> find_program(const std::string& program) {
  if (program.empty()) {
    return std::nullopt;
  }
  if (program.find('/') != std::string::npos) {
    return is_executable(program) ? std::optional(absolute_path(program)) : std::nullopt;
  }
  const char* variable = std::getenv("PATH");
  const std::string folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    const std::string path = (folder.empty() ? "." : folder) + "/" + program;
    if (is_executable(path)) {
      return absolute_path(path);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace kernelpro
