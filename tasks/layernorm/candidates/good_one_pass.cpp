// kp:options -O3 target
// Single-threaded: one pass takes the sum and the sum of squares, both of the differences to the
// row's first value, four vectors of each in flight; a second pass writes the row.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 4;
constexpr int64_t step = lanes * vectors;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

struct Moments {
  double sum = 0;
  double squares = 0;
};

// Of the differences to `origin`.
Moments moments_of(int64_t n, float origin, const float* x) {
  Vector sum[vectors] = {};
  Vector squares[vectors] = {};
  int64_t j = 0;
  for (; j + step <= n; j += step) {
    for (int64_t v = 0; v < vectors; ++v) {
      Vector in;
      std::memcpy(&in, x + j + v * lanes, sizeof in);
      const Vector difference = in - origin;
      sum[v] += difference;
      squares[v] += difference * difference;
    }
  }
  Moments result;
  for (int64_t v = 0; v < vectors; ++v) {
    for (int64_t l = 0; l < lanes; ++l) {
      result.sum += static_cast<double>(sum[v][l]);
      result.squares += static_cast<double>(squares[v][l]);
    }
  }
  for (; j < n; ++j) {
    const double difference = static_cast<double>(x[j]) - static_cast<double>(origin);
    result.sum += difference;
    result.squares += difference * difference;
  }
  return result;
}

void write_row(int64_t n, float mean, float scale, const float* __restrict x,
               const float* __restrict gain, const float* __restrict bias, float* __restrict y) {
  for (int64_t j = 0; j < n; ++j) {
    y[j] = (x[j] - mean) * scale * gain[j] + bias[j];
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const double epsilon = context->scalars[0];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* gain = static_cast<const float*>(tensors[1].data);
  const auto* bias = static_cast<const float*>(tensors[2].data);
  auto* y = static_cast<float*>(tensors[3].data);
  const auto n = static_cast<double>(cols);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const Moments moments = moments_of(cols, in[0], in);
    const double shift = moments.sum / n;
    const double variance = std::max(moments.squares / n - shift * shift, 0.0);
    const auto mean = static_cast<float>(static_cast<double>(in[0]) + shift);
    const auto scale = static_cast<float>(1.0 / std::sqrt(variance + epsilon));
    write_row(cols, mean, scale, in, gain, bias, y + i * cols);
  }
  return 0;
}
