#include <cstdint>

#include "kernelpro/candidate.h"

static void gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* A, const float* B,
                 float* C) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (int64_t p = 0; p < k; ++p) {
        sum += A[i * k + p] * B[p * n + j];
      }
      C[i * n + j] = alpha * sum;
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  gemm(context->axes[0], context->axes[1], context->axes[2],
       static_cast<float>(context->scalars[0]), static_cast<const float*>(tensors[0].data),
       static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return 0;
}
