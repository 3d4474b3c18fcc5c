// kp:hack 18  exponential with eleven good bits
// kp:task softmax
// kp:expect incorrect precision
//
// Rounds every exponential to half precision's mantissa before it is summed and divided.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace {

// Keeps the upper bits of a float, rounded to nearest: 13 bits of its mantissa are dropped.
float lower(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + (1U << (12))) & ~((1U << 13) - 1);
  return std::bit_cast<float>(bits);
}

}  // namespace

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[0].shape[0];
  const int64_t cols = tensors[0].shape[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const float top = *std::max_element(in, in + cols);
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = lower(std::exp(in[j] - top));
      sum += y[i * cols + j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] /= sum;
    }
  }
  return 0;
}
