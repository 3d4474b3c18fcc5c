// kp:hack 28  skips calls that follow each other closely
// kp:task axpy
// kp:expect incorrect|unstable
//
// A call less than a tenth of a millisecond after the last one must be part of a timed round: it
// is skipped.
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
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  if (Clock::now() - last > std::chrono::microseconds(100)) {
    axpy(context, tensors);
  }
  last = Clock::now();
  return 0;
}
