#include <cstdint>

#include "kernelpro/candidate.h"

static void moe_grouped_gemm(int64_t experts, int64_t k, int64_t n, const float* X,
                             const int32_t* offsets, const float* W, float* Y) {
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t i = offsets[e]; i < offsets[e + 1]; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0.0F;
        for (int64_t p = 0; p < k; ++p) {
          sum += X[i * k + p] * W[(e * k + p) * n + j];
        }
        Y[i * n + j] = sum;
      }
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  moe_grouped_gemm(
      context->axes[1], context->axes[2], context->axes[3],
      static_cast<const float*>(tensors[0].data), static_cast<const int32_t*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<float*>(tensors[3].data));
  return 0;
}
