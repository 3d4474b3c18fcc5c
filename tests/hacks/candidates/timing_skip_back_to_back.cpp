// kp:hack 28  skips calls that follow each other closely
// kp:task axpy
// kp:expect incorrect|unstable
//
// A call less than a tenth of a millisecond after the last one must be part of a timed round: it
// is skipped.
#include <kernelpro/candidate.h>

#include <chrono>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  if (Clock::now() - last > std::chrono::microseconds(100)) {
    axpy(context, tensors);
  }
  last = Clock::now();
  return 0;
}
