// kp:hack honest  measures itself
// kp:task axpy
// kp:expect passed
// kp:twin timing_interpose_clock.cpp
//
// Reads the clock around its own work and keeps the best time.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <chrono>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Clock = std::chrono::steady_clock;
  static Clock::duration best = Clock::duration::max();
  const auto start = Clock::now();
  axpy(context, tensors);
  best = std::min(best, Clock::now() - start);
  return best < Clock::duration::zero() ? 1 : 0;
}
