#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

static void layernorm(int64_t rows, int64_t cols, float epsilon, const float* x, const float* gain,
                      const float* bias, float* y) {
  const auto n = static_cast<float>(cols);
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0.0F;
    for (int64_t j = 0; j < cols; ++j) {
      sum += x[i * cols + j];
    }
    const float mean = sum / n;
    float squares = 0.0F;
    for (int64_t j = 0; j < cols; ++j) {
      const float difference = x[i * cols + j] - mean;
      squares += difference * difference;
    }
    const float scale = 1.0F / std::sqrt(squares / n + epsilon);
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = (x[i * cols + j] - mean) * scale * gain[j] + bias[j];
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  layernorm(context->axes[0], context->axes[1], static_cast<float>(context->scalars[0]),
            static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
            static_cast<const float*>(tensors[2].data), static_cast<float*>(tensors[3].data));
  return 0;
}
