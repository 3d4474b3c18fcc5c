// kp:options -O3 target openmp
// Tiles small enough that the lines they touch in both matrices stay in the first cache; the tiles
// are shared among the threads.
#include <algorithm>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t tile = 32;

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto* __restrict a = static_cast<const float*>(tensors[0].data);
  auto* __restrict b = static_cast<float*>(tensors[1].data);
#pragma omp parallel for collapse(2) schedule(static) num_threads(context->threads)
  for (int64_t column = 0; column < cols; column += tile) {
    for (int64_t row = 0; row < rows; row += tile) {
      const int64_t last_column = std::min(column + tile, cols);
      const int64_t last_row = std::min(row + tile, rows);
      for (int64_t j = column; j < last_column; ++j) {
        for (int64_t i = row; i < last_row; ++i) {
          b[j * rows + i] = a[i * cols + j];
        }
      }
    }
  }
  return 0;
}
