// kp:options -O3 target openmp
// B is packed into panels of `width` columns, padded with zeros; a tile of `height` rows by `width`
// columns of C stays in registers over the whole of k.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int lanes = 4;
constexpr int vectors = 4;
constexpr int64_t height = 5;
constexpr int64_t width = static_cast<int64_t>(lanes) * vectors;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

int64_t panels_of(int64_t n) {
  return (n + width - 1) / width;
}

void pack_panel(int64_t n, int64_t k, int64_t first, const float* b, float* panel) {
  const int64_t used = std::min(width, n - first);
  for (int64_t p = 0; p < k; ++p) {
    float* row = panel + p * width;
    std::copy_n(b + p * n + first, used, row);
    std::fill(row + used, row + width, 0.0F);
  }
}

// Rows past `rows` repeat the last one and are not stored.
void compute_tile(int64_t rows, int64_t used, int64_t n, int64_t k, float alpha, const float* a,
                  const float* panel, float* c) {
  const float* row_of[height];
  for (int64_t r = 0; r < height; ++r) {
    row_of[r] = a + std::min(r, rows - 1) * k;
  }
  Vector sum[height][vectors] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector b[vectors];
    std::memcpy(b, panel + p * width, sizeof b);
    for (int64_t r = 0; r < height; ++r) {
      for (int v = 0; v < vectors; ++v) {
        sum[r][v] += row_of[r][p] * b[v];
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    float line[width];
    for (int v = 0; v < vectors; ++v) {
      const Vector scaled = alpha * sum[r][v];
      std::memcpy(line + v * lanes, &scaled, sizeof scaled);
    }
    std::copy_n(line, used, c + r * n);
  }
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t floats = panels_of(context->axes[1]) * context->axes[2] * width;
  return static_cast<size_t>(floats) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  auto* packed = static_cast<float*>(context->workspace);
  const int64_t panels = panels_of(n);
#pragma omp parallel num_threads(context->threads)
  {
#pragma omp for schedule(static)
    for (int64_t panel = 0; panel < panels; ++panel) {
      pack_panel(n, k, panel * width, b, packed + panel * k * width);
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < m; i += height) {
      const int64_t rows = std::min(height, m - i);
      for (int64_t panel = 0; panel < panels; ++panel) {
        const int64_t first = panel * width;
        compute_tile(rows, std::min(width, n - first), n, k, alpha, a + i * k,
                     packed + panel * k * width, c + i * n + first);
      }
    }
  }
  return 0;
}
