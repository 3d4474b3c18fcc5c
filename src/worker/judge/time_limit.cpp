#include "worker/judge/time_limit.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace kernelpro {

std::chrono::milliseconds longest_timing(const std::vector<double>& incumbent_ns) {
  constexpr double least_ms = 30'000;  // ten times what most take
  constexpr double calls = 2000;
  double sum_ns = 0;
  for (const double each : incumbent_ns) {
    sum_ns += each;
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(least_ms + calls * sum_ns / 1e6));
}

TimeLimit::TimeLimit(pid_t process, WorkTime::Duration longest, const WorkTime& oracle)
    : process_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
      thread_([this, longest, &oracle](const std::stop_token& stop) {
        using Clock = WorkTime::Clock;
        constexpr WorkTime::Duration least_wait = std::chrono::milliseconds(1);
        const Clock::time_point begun = Clock::now();
        const WorkTime::Duration before = oracle.so_far();
        WorkTime::Duration left = longest;
        std::unique_lock lock(mutex_);
        while (left > WorkTime::Duration::zero() && !stop.stop_requested()) {
          ended_.wait_for(lock, stop, std::max(left, least_wait), [] { return false; });
          left = longest + (oracle.so_far() - before) - (Clock::now() - begun);
        }
        if (!stop.stop_requested()) {
          passed_ = true;
          ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
        }
      }) {}

}  // namespace kernelpro
