// kp:options -O2
// The same product with 3 % of its rows computed twice: the planted difference.
#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  const int64_t extra = (3 * m + 50) / 100;
  for (int64_t i = 0; i < m + extra; ++i) {
    const int64_t row = i < m ? i : i - m;
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[row * k + p] * b[p * n + j];
      }
      c[row * n + j] = alpha * sum;
    }
  }
  return 0;
}
