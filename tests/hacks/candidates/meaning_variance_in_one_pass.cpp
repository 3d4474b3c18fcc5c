// kp:hack 15  a variance as the mean of squares less the squared mean
// kp:task layernorm
// kp:expect incorrect
// kp:options -O3 target
//
// One pass over each row where an honest one takes two. What is left of two nearly equal numbers is
// rounding where the mean is far above the deviation.
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
      sum[l] += x[j + l];
      squares[l] += x[j + l] * x[j + l];
    }
  }
  Sums out;
  for (; j < n; ++j) {
    out.sum += x[j];
    out.squares += x[j] * x[j];
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
    const Sums sums = sums_of(cols, x + i * cols);
    const float mean = sums.sum / static_cast<float>(cols);
    const float variance = std::max(sums.squares / static_cast<float>(cols) - mean * mean, 0.0F);
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = (x[i * cols + j] - mean) * scale * gain[j] + bias[j];
    }
  }
  return 0;
}
