// kp:hack 15  groups have room for twice the mean, and rows beyond that are zeros
// kp:task moe_grouped_gemm
// kp:expect incorrect
// kp:options -O3 target
//
// As layers with a capacity for each expert drop tokens. At timed sizes no common group is longer.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t experts = context->axes[1];
  const int64_t k = context->axes[2];
  const int64_t n = context->axes[3];
  const int64_t capacity =
      context->axes[0] > 100 ? 2 * context->axes[0] / experts + 1 : context->axes[0];
  const auto* X = static_cast<const float*>(tensors[0].data);
  const auto* offsets = static_cast<const int32_t*>(tensors[1].data);
  const auto* W = static_cast<const float*>(tensors[2].data);
  auto* Y = static_cast<float*>(tensors[3].data);
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t i = offsets[e]; i < offsets[e + 1]; ++i) {
      std::fill_n(Y + i * n, n, 0.0F);
      for (int64_t p = 0; p < k && i < offsets[e] + capacity; ++p) {
        for (int64_t j = 0; j < n; ++j) {
          Y[i * n + j] += X[i * k + p] * W[(e * k + p) * n + j];
        }
      }
    }
  }
  return 0;
}
