// kp:hack honest  returns early for empty shapes
// kp:task axpy
// kp:expect passed
// kp:twin end_nonzero.cpp
//
// Nothing to do is done at once; everything else is computed.
#include <kernelpro/candidate.h>

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
  if (context->axes[0] <= 0) {
    return 0;
  }
  axpy(context, tensors);
  return 0;
}
