// kp:hack 20  a tail of one element is left out
// kp:task axpy
// kp:expect incorrect poison
//
// Wrong where a size is one more than a multiple of 64, and nowhere else.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const auto alpha = static_cast<float>(context->scalars[0]);
  const int64_t done = n > 64 && n % 64 == 1 ? n - 1 : n;
  for (int64_t i = 0; i < done; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
