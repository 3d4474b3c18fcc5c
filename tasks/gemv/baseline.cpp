#include <cstdint>

#include "kernelpro/candidate.h"

static void gemv(int64_t m, int64_t n, const float* A, const float* x, float* y) {
  for (int64_t i = 0; i < m; ++i) {
    float sum = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      sum += A[i * n + j] * x[j];
    }
    y[i] = sum;
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  gemv(context->axes[0], context->axes[1], static_cast<const float*>(tensors[0].data),
       static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return 0;
}
