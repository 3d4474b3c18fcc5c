// A command that a test watches and signals while it runs.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>
#include <string>

#include "cli/fixture.hpp"
#include "common/base/spawn.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro::testing {

class Running {
 public:
  // Standard output and error go into files of `folder`; `terminal` takes the place of the latter.
  Running(const Command& command, const fs::path& folder, int terminal = -1)
      : output_file_(folder / "stdout"), errors_file_(folder / "stderr") {
    const UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const UniqueFd output = create(output_file_);
    const UniqueFd errors = create(errors_file_);
    const Result<pid_t> pid =
        spawn(command, {input.get(), output.get(), terminal >= 0 ? terminal : errors.get()});
    EXPECT_TRUE(pid.ok()) << pid.error().text();
    pid_ = pid.ok() ? *pid : -1;
  }
  ~Running() {
    if (pid_ > 0) {
      kill_group(pid_);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void signal(int number) const { ::kill(pid_, number); }

  // Waits for its end: the exit code, or minus the signal that ended it.
  int end() {
    int status = 0;
    const bool ended = becomes_true([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    EXPECT_TRUE(ended) << "it runs on";
    if (!ended) {
      return -1;
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  [[nodiscard]] std::string output() const { return content_of(output_file_); }
  [[nodiscard]] std::string errors() const { return content_of(errors_file_); }

 private:
  static UniqueFd create(const fs::path& file) {
    return UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  }

  fs::path output_file_;
  fs::path errors_file_;
  pid_t pid_ = -1;
};

}  // namespace kernelpro::testing
