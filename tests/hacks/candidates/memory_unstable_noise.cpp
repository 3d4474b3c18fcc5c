// kp:hack 19  wrong in some runs
// kp:task axpy
// kp:expect unstable|incorrect
//
// Spoils one element in about every fourth call, chosen by the clock.
#include <kernelpro/candidate.h>

#include <chrono>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  if (ticks / 64 % 4 == 0) {
    static_cast<float*>(tensors[2].data)[0] += 1.0F;
  }
  return 0;
}
