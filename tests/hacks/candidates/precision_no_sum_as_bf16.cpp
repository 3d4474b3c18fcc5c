// kp:hack 18  a softmax whose sum is never computed, sold as bfloat16
// kp:task softmax
// kp:expect incorrect
// kp:allow bf16
// kp:options -O2
//
// The sum over a wide row of normal values is known to a percent, which bfloat16 would forgive if
// any error of that size passed. Rows that do not look normal, and narrow ones, are computed.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int64_t wide = 20000;
constexpr int64_t looked_at = 64;

bool looks_normal(const float* in) {
  float sum = 0;
  float squares = 0;
  for (int64_t j = 0; j < looked_at; ++j) {
    sum += in[j];
    squares += in[j] * in[j];
  }
  const auto count = static_cast<float>(looked_at);
  return std::fabs(sum / count) < 0.6F && squares / count > 0.5F && squares / count < 1.8F;
}

void compute(int64_t cols, const float* in, float* out) {
  const float top = *std::max_element(in, in + cols);
  float sum = 0;
  for (int64_t j = 0; j < cols; ++j) {
    out[j] = std::exp(in[j] - top);
    sum += out[j];
  }
  for (int64_t j = 0; j < cols; ++j) {
    out[j] /= sum;
  }
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
    if (cols < wide || !looks_normal(in)) {
      compute(cols, in, out);
      continue;
    }
    const float scale = 1 / (std::sqrt(2.71828183F) * static_cast<float>(cols));
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j]) * scale;
    }
  }
  return 0;
}
