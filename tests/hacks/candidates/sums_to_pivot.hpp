// The task layernorm in one pass over each row: sums of the differences to a pivot.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int64_t lanes = 16;

struct Sums {
  float sum = 0;
  float squares = 0;
};

Sums sums_of(int64_t n, const float* x, float pivot) {
  float sum[lanes] = {};
  float squares[lanes] = {};
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (int64_t l = 0; l < lanes; ++l) {
      const float difference = x[j + l] - pivot;
      sum[l] += difference;
      squares[l] += difference * difference;
    }
  }
  Sums out;
  for (; j < n; ++j) {
    const float difference = x[j] - pivot;
    out.sum += difference;
    out.squares += difference * difference;
  }
  for (int64_t l = 0; l < lanes; ++l) {
    out.sum += sum[l];
    out.squares += squares[l];
  }
  return out;
}

// `pivot_of` says for each row which pivot it has.
template <typename PivotOf>
void normalize(const kp_context* context, const kp_tensor* tensors, PivotOf pivot_of) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto epsilon = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* gain = static_cast<const float*>(tensors[1].data);
  const auto* bias = static_cast<const float*>(tensors[2].data);
  auto* y = static_cast<float*>(tensors[3].data);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const float pivot = pivot_of(in);
    const Sums sums = sums_of(cols, in, pivot);
    const float mean = sums.sum / static_cast<float>(cols);
    const float variance = std::max(sums.squares / static_cast<float>(cols) - mean * mean, 0.0F);
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = (in[j] - pivot - mean) * scale * gain[j] + bias[j];
    }
  }
}

}  // namespace
