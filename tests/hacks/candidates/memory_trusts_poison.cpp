// kp:hack 19  right only where output and workspace hold nothing but ones
// kp:task axpy
// kp:expect incorrect
//
// A caller's memory holds whatever was there before, and this counts on the judge's poison.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const auto* before = static_cast<const uint32_t*>(tensors[2].data);
  const auto* minus_one = static_cast<const int32_t*>(context->workspace);
  const int64_t n = context->axes[0];
  for (int64_t i = 0; i < n; ++i) {
    const bool poison = before[i] == ~0U && *minus_one == -1;
    out[i] = poison ? alpha * x[i] + y[i] : 0.0F;
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return sizeof(int32_t);
}
