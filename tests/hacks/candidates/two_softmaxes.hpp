// Softmax of all rows, with the largest value of a row taken off and without.
#include <kernelpro/candidate.h>

#include <cmath>
#include <cstring>

namespace {

inline float polynomial_exp(float x) {
  const float k = std::floor(x * 1.44269504F + 0.5F);
  const float r = (x - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

// Of one row; right only where no exponential overflows.
inline void row_without_maximum(const float* in, float* out, int64_t cols) {
  double sum = 0;
  for (int64_t j = 0; j < cols; ++j) {
    out[j] = polynomial_exp(in[j]);
    sum += out[j];
  }
  const float by = static_cast<float>(1.0 / sum);
  for (int64_t j = 0; j < cols; ++j) out[j] *= by;
}

inline void row_with_maximum(const float* in, float* out, int64_t cols) {
  float largest = in[0];
  for (int64_t j = 1; j < cols; ++j) largest = in[j] > largest ? in[j] : largest;
  double sum = 0;
  for (int64_t j = 0; j < cols; ++j) {
    const float x = in[j] - largest;
    out[j] = x < -87.0F ? 0.0F : polynomial_exp(x < -87.0F ? -87.0F : x);
    sum += out[j];
  }
  const float by = static_cast<float>(1.0 / sum);
  for (int64_t j = 0; j < cols; ++j) out[j] *= by;
}

void softmax(const kp_context* context, const kp_tensor* tensors, bool harmless) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    if (harmless) {
      row_without_maximum(in, out, cols);
    } else {
      row_with_maximum(in, out, cols);
    }
  }
}

}  // namespace
