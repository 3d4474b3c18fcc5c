// kp:hack 16  skips the tail of a vector loop
// kp:task axpy
// kp:expect incorrect poison
//
// Works in blocks of eight and forgets what is left.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  for (int64_t i = 0; i + 8 <= n; i += 8) {
    for (int64_t lane = i; lane < i + 8; ++lane) {
      out[lane] = alpha * x[lane] + y[lane];
    }
  }
  return 0;
}
