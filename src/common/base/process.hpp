// Child processes: run to the end with limits, or keep one and talk to it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

struct Command {
  std::vector<std::string> arguments;  // arguments[0] is the program, found in PATH
  std::string directory;               // empty: inherit
  // Nothing is inherited from our environment but these and PATH.
  std::map<std::string, std::string> environment;
  bool inherit_environment = false;
  std::int64_t timeout_ms = 60'000;
  std::size_t output_limit = 256 * 1024;  // per stream; what goes beyond is read and dropped
  // Killed when the thread that starts it ends, however it ends. Always so in run_command.
  bool ends_with_us = false;
  // The program is a guardian (`JailPolicy::guard`): asked by SIGTERM, it ends all that descends
  // from it, also what has left its process group.
  bool guarded = false;
};

struct Finished {
  int exit_code = -1;      // valid when signal is 0
  int signal = 0;          // the signal that ended it
  bool timed_out = false;  // we killed its process group
  std::string output;      // standard output
  std::string errors;      // standard error
  std::int64_t wall_ns = 0;

  [[nodiscard]] bool succeeded() const { return !timed_out && signal == 0 && exit_code == 0; }
};

// Runs a command in its own process group with no standard input. A failing command is a value,
// not an error; an error means that it could not be started.
[[nodiscard]] Result<Finished> run_command(const Command& command, std::stop_token stop = {});

// A child kept alive, with pipes to its standard input and output; standard error is inherited.
// It is killed with its process group when the handle goes.
class ChildProcess {
 public:
  [[nodiscard]] static Result<ChildProcess> start(const Command& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // Writes `line` and a newline. Errors: `lost` when the child is gone, `timeout` when it has read
  // nothing for a minute, `interrupted`.
  [[nodiscard]] Status write_line(const std::string& line, std::stop_token stop = {});
  // The next line without its newline. Errors: `lost` at end of file, `timeout`, `interrupted`.
  [[nodiscard]] Result<std::string> read_line(std::int64_t timeout_ms, std::stop_token stop = {});
  // Closes its input and waits; kills it when it does not leave in time. True when it left.
  bool finish(std::int64_t timeout_ms);
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  ChildProcess() = default;
  void kill_now();
  // Reads what is there into the buffer; false at end of file.
  bool fill_buffer();
  [[nodiscard]] Error lost() const;

  // A child that sends more without a newline has broken the protocol.
  static constexpr std::size_t line_limit = std::size_t{1} << 28U;

  pid_t pid_ = -1;
  std::string name_;
  UniqueFd input_;
  UniqueFd output_;
  std::string buffer_;
};

// The full path of `program` as PATH finds it; nothing when it is not there.
[[nodiscard]] std::optional<std::string> find_program(const std::string& program);

}  // namespace kernelpro
