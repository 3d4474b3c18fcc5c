// The worker's end of one runner (or oracle) process.
//
// The process is stopped (SIGSTOP) whenever it has nothing to do for us. Our clock starts before it
// is let go and ends when it is stopped again, so nothing it does is off the clock. No wait here is
// without a deadline: what does not answer, stop or end in time is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/jail_policy.hpp"
#include "common/base/result.hpp"
#include "common/base/runner_protocol.hpp"
#include "common/base/unique_fd.hpp"
#include "worker/runner/runner_messages.hpp"
#include "worker/runner/sandbox_watch.hpp"

namespace kernelpro {

struct RunnerSettings {
  std::string jail;     // kernelpro-jail
  std::string program;  // kernelpro-runner, kernelpro-oracle or Python
  std::vector<std::string> arguments;
  std::int64_t greeting_timeout_ms = 10'000;
  // How long it may take to stop. That takes microseconds, or some milliseconds with many threads
  // on a busy machine; a driver may be in the kernel for a while.
  std::int64_t stop_timeout_ms = 5'000;
  bool greet_later = false;  // its greeting is waited for when something is asked of it first
  JailPolicy policy;         // keep_fds is set by start()
  int threads = 1;           // what OpenMP gets
  bool cuda = false;         // opens the GPU before it confines itself
  std::string cupti;         // not empty: the library by which it can trace calls
  // Whether we watch it without sleeping: the hand-over is steadier, but takes a core for itself.
  bool spin = false;
  std::vector<std::string> environment;  // NAME=VALUE, beside OpenMP's
  // Open to it while it starts and refused afterwards, by the filter alone.
  std::vector<std::string> start_up_read;
  std::vector<std::string> start_up_write;
  std::stop_token stop;  // ends an exchange or a start under way, and the process with it
};

// How an exchange with the runner ended.
enum class ExchangeEnd {
  replied,
  died,       // exited or was killed by a signal
  timed_out,  // we have killed it
  stopped,    // a stop was asked for; we have killed it
  forged,     // a message that no honest runner sends at that point; we have killed it
  crowded,    // more threads than any kernel needs; we have killed it
};

struct Exchange {
  ExchangeEnd end = ExchangeEnd::died;
  runner::Reply reply{};
  std::int64_t wall_ns = 0;  // our clock
  // How long a processor was waited for, as the kernel tells: by it, and by us. We wait for a
  // candidate whose threads spin on every processor, so only the former tells of a busy machine.
  std::int64_t delay_ns = 0;
  std::int64_t our_delay_ns = 0;
  std::int64_t others_delay_ns = 0;  // of its other threads, summed
  std::int64_t used_ns = 0;          // processor time of all its threads; 0: not known
  int exit_code = 0;                 // died: valid when `signal` is 0
  int signal = 0;
  std::optional<runner::Reply> fault;  // what its signal handler said before it died
  bool stopped_itself = false;         // timed_out: it had stopped by itself
  bool unstoppable = false;            // timed_out: SIGSTOP did not stop it after its reply
  // died: the kernel ended a process for want of memory while it lived, and it was this one by its
  // signal.
  bool memory_ran_out = false;
};

class RunnerProcess {
 public:
  // Starts it under the jail and waits for its greeting. Errors are ours: no jail, no memory. It
  // ends with the thread that starts it.
  [[nodiscard]] static Result<RunnerProcess> start(const RunnerSettings& settings);
  RunnerProcess(RunnerProcess&& other) noexcept;
  RunnerProcess& operator=(RunnerProcess&& other) noexcept;
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;
  ~RunnerProcess();

  // Sends a request (its sequence number is set here) with its descriptors, lets the process
  // run until it replies, and stops it again.
  [[nodiscard]] Exchange exchange(runner::Request& request, const std::vector<int>& fds,
                                  std::int64_t timeout_ms);

  // What we do around the calls of a `go` on a GPU.
  struct HandOver {
    std::function<void()> before;  // when it is ready: gives it its inputs
    std::function<void()> after;   // when it has replied: takes its outputs, behind all its kernels
    // When it is not ready for long: behind a gate it waits for calls that cannot begin yet.
    std::function<void()> late;
  };
  // As exchange, for `go` on a GPU: our clock runs from before `before` until `after` returns. In
  // between it gets the word that lets its calls begin.
  [[nodiscard]] Exchange hand_over(runner::Request& request, const HandOver& around,
                                   std::int64_t timeout_ms);

  // Lets the process run for a while with nothing asked, then stops it: what it does now was left
  // over from earlier calls.
  void let_run(std::int64_t milliseconds);

  // Kills the process and waits for its end.
  void end() { kill_process(); }

  [[nodiscard]] std::int64_t resident_bytes() const;  // memory it holds; 0: it is gone
  [[nodiscard]] bool alive() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return watch_.violations(); }
  // What it printed so far, at most 64 KiB.
  [[nodiscard]] const std::string& printed();

 private:
  static constexpr int poll_slice_ms = 100;
  static constexpr std::int64_t late_ms = 500;
  static constexpr nlink_t most_threads = 4096;

  RunnerProcess() = default;
  [[nodiscard]] Status greet(const RunnerSettings& settings);
  // What the runner's main thread has waited for a processor so far.
  [[nodiscard]] std::int64_t delay_ns() const;
  [[nodiscard]] std::int64_t delay_of_others_ns() const;
  // The processor time of all its threads so far, those that have ended included; 0: not known.
  [[nodiscard]] std::int64_t used_ns() const;
  void note_stolen();
  // False when the request could not be sent; `out` says why.
  [[nodiscard]] bool send(runner::Request& request, const std::vector<int>& fds, Exchange& out);
  // `late` is called once, when that takes long.
  void wait_for_reply(Exchange& out, std::int64_t timeout_ms,
                      runner::ReplyKind wanted = runner::ReplyKind::done,
                      const std::function<void()>& late = {});
  // Ends with what an honest runner sends only when it dies.
  void take_unexpected(const Incoming& incoming, Exchange& out);
  // Whether it has so many threads that others might get none; it is killed then.
  bool end_if_crowded(Exchange& out);
  // Polls once for up to `timeout_ms`; true when a message waits.
  bool poll_once(int timeout_ms);
  bool stop_process(Exchange& out);
  bool wait_until_stopped(Exchange& out);
  // Whether it has ended, or does so while we wait a second for it or until we are asked to stop.
  bool ends_by_itself();
  void reap(Exchange& out);
  void kill_process();

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd socket_;
  UniqueFd output_;
  std::string printed_;
  std::uint32_t sequence_ = 0;
  SandboxWatch watch_;
  std::stop_token stop_;
  bool spin_ = false;
  std::int64_t stop_timeout_ms_ = 0;
  double stolen_before_ = -1;                // by the hypervisor, when something was asked last
  std::optional<RunnerSettings> ungreeted_;  // what it was started with, until it has greeted
  std::optional<Exchange> end_;              // how it ended while nothing was asked of it
  std::int64_t oom_kills_ = 0;               // of the machine, when it was started
};

// The shared libraries every candidate may need, by their real paths: C, C++, OpenMP and the
// loader.
[[nodiscard]] std::vector<std::string> runtime_libraries();

}  // namespace kernelpro
