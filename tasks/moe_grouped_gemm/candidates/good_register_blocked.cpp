// kp:options -O3 target openmp
// The weights are prepared as panels of `width` columns, padded with zeros; a tile of `height`
// tokens of one expert by `width` columns stays in registers over the whole of k. Threads share the
// panels of all experts.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 4;
constexpr int64_t height = 5;
constexpr int64_t width = lanes * vectors;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

int64_t panels_of(int64_t n) {
  return (n + width - 1) / width;
}

// Rows past `rows` repeat the last one and are not stored.
void compute_tile(int64_t rows, int64_t used, int64_t n, int64_t k, const float* x,
                  const float* panel, float* y) {
  const float* row_of[height];
  for (int64_t r = 0; r < height; ++r) {
    row_of[r] = x + std::min(r, rows - 1) * k;
  }
  Vector sum[height][vectors] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector w[vectors];
    std::memcpy(w, panel + p * width, sizeof w);
    for (int64_t r = 0; r < height; ++r) {
      for (int64_t v = 0; v < vectors; ++v) {
        sum[r][v] += row_of[r][p] * w[v];
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    float line[width];
    std::memcpy(line, sum[r], sizeof line);
    std::copy_n(line, used, y + r * n);
  }
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t* axes = context->axes;
  return static_cast<size_t>(axes[1] * panels_of(axes[3]) * axes[2] * width) * sizeof(float);
}

int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const int64_t experts = context->axes[1];
  const int64_t k = context->axes[2];
  const int64_t n = context->axes[3];
  const auto* weights = static_cast<const float*>(tensors[2].data);
  auto* row = static_cast<float*>(context->state);
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t first = 0; first < n; first += width) {
      const int64_t used = std::min(width, n - first);
      for (int64_t p = 0; p < k; ++p) {
        std::copy_n(weights + (e * k + p) * n + first, used, row);
        std::fill(row + used, row + width, 0.0F);
        row += width;
      }
    }
  }
  return 0;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->state == nullptr) {
    return 1;
  }
  const int64_t experts = context->axes[1];
  const int64_t k = context->axes[2];
  const int64_t n = context->axes[3];
  const int64_t panels = panels_of(n);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* offsets = static_cast<const int32_t*>(tensors[1].data);
  const auto* packed = static_cast<const float*>(context->state);
  auto* y = static_cast<float*>(tensors[3].data);
#pragma omp parallel for collapse(2) schedule(dynamic, 4) num_threads(context->threads)
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t first = panel * width;
      const int64_t last = offsets[e + 1];
      for (int64_t i = offsets[e]; i < last; i += height) {
        compute_tile(std::min(height, last - i), std::min(width, n - first), n, k, x + i * k,
                     packed + (e * panels + panel) * k * width, y + i * n + first);
      }
    }
  }
  return 0;
}
