// kp:hack 21  one infinite output
// kp:task axpy
// kp:expect incorrect
//
// Right but for one element, which is infinite, so that a maximum of errors is NaN or infinite.
#include <kernelpro/candidate.h>

#include <limits>

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
  static_cast<float*>(tensors[2].data)[context->axes[0] / 2] =
      std::numeric_limits<float>::infinity();
  return 0;
}
