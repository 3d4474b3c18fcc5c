#include "common/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/sigpipe_guard.hpp"
#include "common/base/spawn.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

void make_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Error no_pidfd() {
  return make_error(ErrorKind::environment,
                    "the system cannot watch a process (pidfd_open failed); Linux 5.3 or newer is "
                    "needed");
}

// One output stream of a command: kept up to the limit, read and dropped beyond it.
class Capture {
 public:
  Capture(UniqueFd fd, std::size_t limit) : fd_(std::move(fd)), limit_(limit) {
    make_nonblocking(fd_.get());
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::string take() { return std::move(text_); }

  // Reads what is there. Bounded, so that a child that never stops printing cannot hold us; the
  // bound is above what a pipe can hold.
  void drain() {
    std::array<char, chunk_bytes> chunk;
    for (int reads = 0; reads < 32 && fd_.valid(); ++reads) {
      const ssize_t count = ::read(fd_.get(), chunk.data(), chunk.size());
      if (count > 0) {
        const std::size_t room = limit_ - text_.size();
        text_.append(chunk.data(), std::min(room, static_cast<std::size_t>(count)));
      } else if (count < 0 && errno == EAGAIN) {
        return;
      } else if (count == 0 || errno != EINTR) {
        fd_.reset();
      }
    }
  }

 private:
  UniqueFd fd_;
  std::size_t limit_;
  std::string text_;
};

enum class Ending { left, timed_out, stopped };

// Reads both streams until the process ends, its time is up or we are asked to stop.
Ending watch(int process, Capture& output, Capture& errors, const Deadline& deadline,
             const std::stop_token& stop) {
  while (true) {
    if (stop.stop_requested()) {
      return Ending::stopped;
    }
    std::array<pollfd, 3> waits = {pollfd{process, POLLIN, 0}, pollfd{output.fd(), POLLIN, 0},
                                   pollfd{errors.fd(), POLLIN, 0}};
    ::poll(waits.data(), waits.size(), deadline.step(100));
    output.drain();
    errors.drain();
    if (waits[0].revents != 0) {
      return Ending::left;
    }
    if (deadline.passed()) {
      return Ending::timed_out;
    }
  }
}

// "ended with exit code 3", without reaping it. A process closes its pipes a moment before it can
// be waited for, hence the short wait.
std::string how_it_ended(pid_t pid) {
  const UniqueFd process = open_process(pid);
  pollfd wait{process.get(), POLLIN, 0};
  ::poll(&wait, 1, 200);
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid) {
    return "closed its pipe but still runs";
  }
  const std::string number = std::to_string(info.si_status);
  return info.si_code == CLD_EXITED ? "ended with exit code " + number
                                    : "was ended by signal " + number;
}

}  // namespace

Result<Finished> run_command(const Command& command, std::stop_token stop) {
  Result<Pipe> output = make_pipe();
  Result<Pipe> errors = make_pipe();
  if (!output.ok() || !errors.ok()) {
    return output.ok() ? errors.error() : output.error();
  }
  // Its writing end is closed before the child starts: the child reads the end of file at once.
  KP_LET(Pipe nothing, make_pipe());
  nothing.write.reset();

  const std::int64_t start_ns = now_ns();
  const Deadline deadline(command.timeout_ms);
  Command ours = command;
  ours.ends_with_us = true;
  KP_LET(const pid_t pid,
         spawn(ours, {nothing.read.get(), output->write.get(), errors->write.get()}));
  output->write.reset();
  errors->write.reset();
  const UniqueFd process = open_process(pid);
  if (!process.valid()) {
    kill_group(pid);
    return no_pidfd();
  }

  Capture kept_output(std::move(output->read), command.output_limit);
  Capture kept_errors(std::move(errors->read), command.output_limit);
  const Ending ending = watch(process.get(), kept_output, kept_errors, deadline, stop);
  Finished finished;
  finished.wall_ns = now_ns() - start_ns;
  if (ending != Ending::left && command.guarded) {
    end_guarded(pid, process.get());
  }
  // Also after a normal end: what the command left running in its group must not outlive it.
  const int status = kill_group(pid);
  if (ending == Ending::stopped) {
    return make_error(ErrorKind::interrupted,
                      "'" + command.arguments[0] + "' was ended because a stop was asked for");
  }
  kept_output.drain();
  kept_errors.drain();
  finished.timed_out = ending == Ending::timed_out;
  finished.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  finished.output = kept_output.take();
  finished.errors = kept_errors.take();
  return finished;
}

Result<ChildProcess> ChildProcess::start(const Command& command) {
  Result<Pipe> input = make_pipe();
  Result<Pipe> output = make_pipe();
  if (!input.ok() || !output.ok()) {
    return input.ok() ? output.error() : input.error();
  }
  KP_LET(const pid_t pid, spawn(command, {input->read.get(), output->write.get(), -1}));
  ChildProcess child;
  child.pid_ = pid;
  child.name_ = command.arguments[0];
  child.input_ = std::move(input->write);
  child.output_ = std::move(output->read);
  make_nonblocking(child.input_.get());
  make_nonblocking(child.output_.get());
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      name_(std::move(other.name_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      buffer_(std::move(other.buffer_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill_now();
    pid_ = std::exchange(other.pid_, -1);
    name_ = std::move(other.name_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  kill_now();
}

void ChildProcess::kill_now() {
  if (pid_ > 0) {
    kill_group(std::exchange(pid_, -1));
  }
  input_.reset();
  output_.reset();
}

Error ChildProcess::lost() const {
  return make_error(ErrorKind::lost, pid_ > 0 ? "the process '" + name_ + "' " + how_it_ended(pid_)
                                              : "the process '" + name_ + "' is no longer there");
}

bool ChildProcess::fill_buffer() {
  std::array<char, chunk_bytes> chunk;
  while (true) {
    const ssize_t count = ::read(output_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
      return true;
    }
    if (count < 0 && errno == EAGAIN) {
      return true;
    }
    if (count == 0 || errno != EINTR) {
      return false;
    }
  }
}

Status ChildProcess::write_line(const std::string& line, std::stop_token stop) {
  const SigpipeGuard guard;
  const std::string text = line + "\n";
  constexpr std::int64_t stall_ms = 60'000;
  Deadline stalled(stall_ms);
  bool readable = output_.valid();
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(input_.get(), text.data() + sent, text.size() - sent);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      stalled = Deadline(stall_ms);
      continue;
    }
    if (errno == EINTR) {
      continue;
    }
    if (errno != EAGAIN) {
      return lost();
    }
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted,
                        "a stop was asked for while '" + name_ + "' was being written to");
    }
    if (stalled.passed()) {
      return make_error(ErrorKind::timeout,
                        "the process '" + name_ + "' has not read its input for 60 s; it hangs");
    }
    // Its output is read meanwhile: a child that waits for us to read would never read from us.
    std::array<pollfd, 2> waits = {pollfd{input_.get(), POLLOUT, 0},
                                   pollfd{readable ? output_.get() : -1, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), stalled.step(100));
    if (waits[1].revents != 0) {
      readable = buffer_.size() < line_limit && fill_buffer();
    }
  }
  return {};
}

Result<std::string> ChildProcess::read_line(std::int64_t timeout_ms, std::stop_token stop) {
  const Deadline deadline(timeout_ms);
  std::size_t searched = 0;
  while (true) {
    const std::size_t newline = buffer_.find('\n', searched);
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > line_limit) {
      return make_error(ErrorKind::lost, "the process '" + name_ +
                                             "' broke the protocol: it sent a line of more than " +
                                             std::to_string(line_limit >> 20U) + " MiB");
    }
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted,
                        "a stop was asked for while '" + name_ + "' was working");
    }
    pollfd wait{output_.get(), POLLIN, 0};
    ::poll(&wait, 1, deadline.step(100));
    if (wait.revents != 0 || !output_.valid()) {
      if (!fill_buffer()) {
        return lost();
      }
    } else if (deadline.passed()) {
      return make_error(ErrorKind::timeout, "the process '" + name_ + "' did not answer within " +
                                                std::to_string(timeout_ms) + " ms");
    }
  }
}

bool ChildProcess::finish(std::int64_t timeout_ms) {
  input_.reset();
  bool left = pid_ <= 0;
  if (pid_ > 0) {
    const UniqueFd process = open_process(pid_);
    const Deadline deadline(timeout_ms);
    bool readable = output_.valid();
    while (process.valid() && !left && !deadline.passed()) {
      std::array<pollfd, 2> waits = {pollfd{process.get(), POLLIN, 0},
                                     pollfd{readable ? output_.get() : -1, POLLIN, 0}};
      ::poll(waits.data(), waits.size(), deadline.step(100));
      left = waits[0].revents != 0;
      if (waits[1].revents != 0) {
        readable = fill_buffer();
        buffer_.clear();
      }
    }
  }
  kill_now();
  return left;
}

}  // namespace kernelpro
