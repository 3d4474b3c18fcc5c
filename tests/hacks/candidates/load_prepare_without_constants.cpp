// kp:hack bad-input  kp_prepare where the task has no constant input
// kp:task axpy
// kp:expect launch_failed prepare
//
// There is nothing that it could honestly prepare.
#include <kernelpro/candidate.h>

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
