// A point in time that waits must not pass.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/clock.hpp"

namespace kernelpro {

class Deadline {
 public:
  explicit Deadline(std::int64_t timeout_ms)
      : end_ns_(now_ns() + std::clamp<std::int64_t>(timeout_ms, 0, longest_ms_) * 1'000'000) {}

  [[nodiscard]] bool passed() const { return now_ns() >= end_ns_; }

  // Milliseconds to wait in one step, at most `step_ms`: rounded up, so that a wait never spins.
  [[nodiscard]] int step(std::int64_t step_ms) const {
    const std::int64_t left_ms = (end_ns_ - now_ns() + 999'999) / 1'000'000;
    return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, step_ms));
  }

 private:
  static constexpr std::int64_t longest_ms_ = 1'000LL * 3600 * 24 * 365;
  std::int64_t end_ns_;
};

}  // namespace kernelpro
