// How a child process is made; run_command and ChildProcess are built on it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Both ends are closed on exec and never 0, 1 or 2.
[[nodiscard]] Result<Pipe> make_pipe();

// What becomes descriptor 0, 1 and 2 of the child; -1 inherits ours.
struct StandardFds {
  int input = -1;
  int output = -1;
  int errors = -1;
};

// Starts the command in its own process group with default signal handling and no other open
// descriptor. Returns when the program runs; a program that cannot be executed, or not within ten
// seconds, is an environment error that names it.
[[nodiscard]] Result<pid_t> spawn(const Command& command, const StandardFds& fds);

// A descriptor that becomes readable when the process ends; invalid when the system has none.
[[nodiscard]] UniqueFd open_process(pid_t pid);

// Kills the process group led by `pid`, which must not be reaped yet, and reaps the leader.
// Returns its wait status; that of a killed process when it takes longer than reap_killed waits.
int kill_group(pid_t pid);

// Lets a guardian (`Command::guarded`) end what it guards, for half a second; `process` is what
// open_process gave. kill_group still comes after.
void end_guarded(pid_t guardian, int process);

// Waits for the end of a child that was sent SIGKILL and reaps it: its wait status. Bounded,
// because the kernel may hold a process for ever (state D): nothing after five seconds, and a later
// call reaps it.
std::optional<int> reap_killed(pid_t pid);

}  // namespace kernelpro
