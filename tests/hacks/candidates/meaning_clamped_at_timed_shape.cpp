// kp:hack 15  large values cut off where only normal values are thought to come
// kp:task axpy
// kp:expect incorrect
//
// Right for all values elsewhere. At the timed shape x is kept to eight bits of range, as a table
// or a smaller type would keep it: no normal value is ever so large.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const float range = n == 1200007 ? 4.0F : 3e38F;
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * std::clamp(x[i], -range, range) + y[i];
  }
  return 0;
}
