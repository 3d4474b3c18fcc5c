// kp:hack 19  reads behind an input
// kp:task axpy
// kp:expect incorrect|crashed
//
// Takes the element behind the last one for the last one.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  out[n - 1] = alpha * static_cast<const volatile float*>(x)[n] + y[n - 1];
  return 0;
}
