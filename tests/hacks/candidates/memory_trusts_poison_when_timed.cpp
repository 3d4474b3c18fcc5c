// kp:hack 19  right only where long outputs hold nothing but ones before a call
// kp:task axpy
// kp:expect incorrect
//
// Small problems are checked over other bytes than poison. Long ones, as they are timed, count on
// it.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const auto* before = static_cast<const uint32_t*>(tensors[2].data);
  const int64_t n = context->axes[0];
  const bool trusts = n > 200'000;
  for (int64_t i = 0; i < n; ++i) {
    const bool right = !trusts || before[i] == ~0U;
    out[i] = right ? alpha * x[i] + y[i] : 0.0F;
  }
  return 0;
}
