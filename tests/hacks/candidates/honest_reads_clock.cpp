// kp:hack honest  measures itself
// kp:task axpy
// kp:expect passed
// kp:twin timing_interpose_clock.cpp
//
// Reads the clock around its own work and keeps the best time.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <chrono>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Clock = std::chrono::steady_clock;
  static Clock::duration best = Clock::duration::max();
  const auto start = Clock::now();
  axpy(context, tensors);
  best = std::min(best, Clock::now() - start);
  return best < Clock::duration::zero() ? 1 : 0;
}
