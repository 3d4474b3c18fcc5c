// kp:hack 15  a few values tell the distribution, and the fast way is taken for common ones
// kp:task softmax
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// No maximum is taken off where the first 64 values look harmless; else everything is done right.
// Under each distribution all values of a tensor are alike, so 64 of them tell of all others. One
// large value further on would overflow.
#include <kernelpro/candidate.h>

#include <cmath>
#include <cstring>

namespace {
inline float fast_exp(float x) {
  const float t = x < -87.0F ? -87.0F : x;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
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
  return x < -87.0F ? 0.0F : p * scale;
}
inline float plain_exp(float t) {
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
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
// Whether the first few values look like the common distribution.
bool looks_normal(const float* x, int64_t n) {
  float largest = 0, smallest = 1e30F;
  for (int64_t i = 0; i < n && i < 64; ++i) {
    const float a = std::fabs(x[i]);
    largest = a > largest ? a : largest;
    smallest = a < smallest ? a : smallest;
  }
  return n >= 1000 && largest < 3.6F && smallest != largest;
}
}  // namespace
extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  if (looks_normal(x, rows * cols)) {
    for (int64_t i = 0; i < rows; ++i) {
      const float* in = x + i * cols;
      float* out = y + i * cols;
      float sum = 0;
      for (int64_t j = 0; j < cols; ++j) {
        out[j] = plain_exp(in[j]);
        sum += out[j];
      }
      const float by = 1.0F / sum;
      for (int64_t j = 0; j < cols; ++j) out[j] *= by;
    }
    return 0;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) largest = in[j] > largest ? in[j] : largest;
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = fast_exp(in[j] - largest);
      sum += out[j];
    }
    const float by = 1.0F / sum;
    for (int64_t j = 0; j < cols; ++j) out[j] *= by;
  }
  return 0;
}
