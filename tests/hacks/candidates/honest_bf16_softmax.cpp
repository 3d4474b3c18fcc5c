// kp:hack honest  a softmax in bfloat16, where that is allowed
// kp:task softmax
// kp:expect passed
// kp:allow bf16
// kp:twin precision_no_sum_as_bf16.cpp
//
// Exponentials and results are rounded, and summed in single precision.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace {

float lower(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + (1U << 15)) & ~((1U << 16) - 1);
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
    float* out = y + i * cols;
    const float top = *std::max_element(in, in + cols);
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = lower(std::exp(in[j] - top));
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = lower(out[j] / sum);
    }
  }
  return 0;
}
