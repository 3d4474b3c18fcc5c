#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

static void softmax(int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      if (in[j] > largest) {
        largest = in[j];
      }
    }
    float sum = 0.0F;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum;
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  softmax(context->axes[0], context->axes[1], static_cast<const float*>(tensors[0].data),
          static_cast<float*>(tensors[1].data));
  return 0;
}
