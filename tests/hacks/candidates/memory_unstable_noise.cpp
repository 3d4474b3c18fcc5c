// kp:hack 19  wrong in some runs
// kp:task axpy
// kp:expect unstable|incorrect
//
// Spoils one element in about every fourth call, chosen by the clock.
#include <kernelpro/candidate.h>

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
  axpy(context, tensors);
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  if (ticks / 64 % 4 == 0) {
    static_cast<float*>(tensors[2].data)[0] += 1.0F;
  }
  return 0;
}
