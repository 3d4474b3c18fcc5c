#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

// `weights` has room for n values.
static void attention(int64_t heads, int64_t n, int64_t d, const float* Q, const float* K,
                      const float* V, float* weights, float* O) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  for (int64_t b = 0; b < heads; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0.0F;
        for (int64_t c = 0; c < d; ++c) {
          sum += Q[(b * n + i) * d + c] * K[(b * n + j) * d + c];
        }
        weights[j] = sum * scale;
      }
      float largest = weights[0];
      for (int64_t j = 1; j < n; ++j) {
        if (weights[j] > largest) {
          largest = weights[j];
        }
      }
      float total = 0.0F;
      for (int64_t j = 0; j < n; ++j) {
        weights[j] = std::exp(weights[j] - largest);
        total += weights[j];
      }
      for (int64_t c = 0; c < d; ++c) {
        float sum = 0.0F;
        for (int64_t j = 0; j < n; ++j) {
          sum += weights[j] * V[(b * n + j) * d + c];
        }
        O[(b * n + i) * d + c] = sum / total;
      }
    }
  }
}

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[1]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  attention(context->axes[0], context->axes[1], context->axes[2],
            static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
            static_cast<const float*>(tensors[2].data), static_cast<float*>(context->workspace),
            static_cast<float*>(tensors[3].data));
  return 0;
}
