// kp:options -O3 target
// Single-threaded: four rows at once share each load of x, and their eight sums in flight hide the
// latency of the additions.
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 2;
constexpr int64_t step = lanes * vectors;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

Vector load(const float* from) {
  Vector result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

// Multiplies `Rows` rows of the matrix, from `a` on, with x.
template <int64_t Rows>
void multiply_rows(int64_t n, const float* a, const float* x, float* y) {
  Vector sum[Rows][vectors] = {};
  int64_t j = 0;
  for (; j + step <= n; j += step) {
    for (int64_t v = 0; v < vectors; ++v) {
      const Vector part = load(x + j + v * lanes);
      for (int64_t r = 0; r < Rows; ++r) {
        sum[r][v] += load(a + r * n + j + v * lanes) * part;
      }
    }
  }
  for (int64_t r = 0; r < Rows; ++r) {
    const Vector both = sum[r][0] + sum[r][1];
    float total = (both[0] + both[1]) + (both[2] + both[3]);
    for (int64_t rest = j; rest < n; ++rest) {
      total += a[r * n + rest] * x[rest];
    }
    y[r] = total;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* x = static_cast<const float*>(tensors[1].data);
  auto* y = static_cast<float*>(tensors[2].data);
  constexpr int64_t rows = 4;
  int64_t i = 0;
  for (; i + rows <= m; i += rows) {
    multiply_rows<rows>(n, a + i * n, x, y + i);
  }
  for (; i < m; ++i) {
    multiply_rows<1>(n, a + i * n, x, y + i);
  }
  return 0;
}
