// An end for a process whose kernels hold the device while we wait for our own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "worker/oracle/work_time.hpp"

namespace kernelpro {

// In which a candidate must have been timed on a device, where the incumbent takes so long for a
// call at each shape.
[[nodiscard]] std::chrono::milliseconds longest_timing(const std::vector<double>& incumbent_ns);

// Kills the process when it is still there after so long. A driver call of ours that its kernels
// delay has no deadline of its own; with the process its kernels go.
class TimeLimit {
 public:
  // The time that the oracle works does not count: no candidate delays it.
  TimeLimit(pid_t process, WorkTime::Duration longest, const WorkTime& oracle);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() = default;

  [[nodiscard]] bool passed() const { return passed_; }
  [[nodiscard]] static Error error() {
    return make_error(ErrorKind::timeout, "it was not done in time");
  }

 private:
  UniqueFd process_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::atomic<bool> passed_ = false;
  std::jthread thread_;  // the last member: it uses all others
};

}  // namespace kernelpro
