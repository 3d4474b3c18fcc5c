// kp:hack honest  one pass, over the differences to the first value of the row
// kp:task layernorm
// kp:expect passed
// kp:twin meaning_variance_in_one_pass.cpp
// kp:options -O3 target
//
// The same two sums, of values from which what they share was taken.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int64_t lanes = 16;

struct Sums {
  float sum = 0;
  float squares = 0;
};

Sums sums_of(int64_t n, const float* x) {
  float sum[lanes] = {};
  float squares[lanes] = {};
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (int64_t l = 0; l < lanes; ++l) {
      const float difference = x[j + l] - x[0];
      sum[l] += difference;
      squares[l] += difference * difference;
    }
  }
  Sums out;
  for (; j < n; ++j) {
    const float difference = x[j] - x[0];
    out.sum += difference;
    out.squares += difference * difference;
  }
  for (int64_t l = 0; l < lanes; ++l) {
    out.sum += sum[l];
    out.squares += squares[l];
  }
  return out;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto epsilon = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* gain = static_cast<const float*>(tensors[1].data);
  const auto* bias = static_cast<const float*>(tensors[2].data);
  auto* y = static_cast<float*>(tensors[3].data);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const Sums sums = sums_of(cols, in);
    const float mean = sums.sum / static_cast<float>(cols);  // above the first value
    const float variance = std::max(sums.squares / static_cast<float>(cols) - mean * mean, 0.0F);
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = (in[j] - in[0] - mean) * scale * gain[j] + bias[j];
    }
  }
  return 0;
}
