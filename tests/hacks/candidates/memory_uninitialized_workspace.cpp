// kp:hack 19  workspace taken to be zero
// kp:task axpy
// kp:expect incorrect
//
// Accumulates into a workspace that it never cleared.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  auto* sum = static_cast<float*>(context->workspace);
  for (int64_t i = 0; i < n; ++i) {
    sum[i] += alpha * x[i];
    out[i] = sum[i] + y[i];
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(float);
}
