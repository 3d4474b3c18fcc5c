// kp:hack honest  blocks of eight and a tail
// kp:task axpy
// kp:expect passed
// kp:options -O3
// kp:twin meaning_skip_tail.cpp
//
// The vector loop that remembers what is left.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int64_t lane = i; lane < i + 8; ++lane) {
      out[lane] = alpha * x[lane] + y[lane];
    }
  }
  for (; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
