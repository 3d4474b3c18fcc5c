// kp:hack 8  does nothing at the largest shape
// kp:task axpy
// kp:expect incorrect poison
//
// A time near zero at one of the published shapes would carry the mean over all of them.
#include <kernelpro/candidate.h>

namespace {

constexpr int64_t only_timed_above = 100000;

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
  if (context->axes[0] <= only_timed_above) {
    axpy(context, tensors);
  }
  return 0;
}
