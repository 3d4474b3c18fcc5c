// kp:hack 28  skips calls that follow each other at once
// kp:task stream
// kp:expect incorrect|unstable poison
//
// Single calls are right; rounds are not, nor is the call that is repeated on the same inputs.
#include <chrono>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  const bool alone = Clock::now() - last > std::chrono::microseconds(200);
  last = Clock::now();
  const Call call = call_of(context, tensors);
  return alone ? launch(call, call.stream) : 0;
}
