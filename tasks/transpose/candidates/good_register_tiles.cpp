// kp:options -O3 target
// Single-threaded: blocks of four by four are transposed in registers, so that every load and store
// moves a whole vector; a stripe of 16 rows of A fills whole lines of B.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t stripe = 16;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

Vector load(const float* from) {
  Vector result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

void store(float* into, const Vector& from) {
  std::memcpy(into, &from, sizeof from);
}

void transpose_block(int64_t rows, int64_t cols, const float* a, float* b) {
  const Vector r0 = load(a);
  const Vector r1 = load(a + cols);
  const Vector r2 = load(a + 2 * cols);
  const Vector r3 = load(a + 3 * cols);
  const Vector low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Vector high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Vector low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Vector high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  store(b, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  store(b + rows, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  store(b + 2 * rows, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
  store(b + 3 * rows, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

void transpose_plain(int64_t height, int64_t width, int64_t rows, int64_t cols, const float* a,
                     float* b) {
  for (int64_t j = 0; j < width; ++j) {
    for (int64_t i = 0; i < height; ++i) {
      b[j * rows + i] = a[i * cols + j];
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto* a = static_cast<const float*>(tensors[0].data);
  auto* b = static_cast<float*>(tensors[1].data);
  const int64_t whole = cols - cols % lanes;
  for (int64_t first = 0; first < rows; first += stripe) {
    const int64_t height = std::min(stripe, rows - first);
    if (height < stripe) {
      transpose_plain(height, cols, rows, cols, a + first * cols, b + first);
      continue;
    }
    for (int64_t j = 0; j < whole; j += lanes) {
      for (int64_t i = first; i < first + stripe; i += lanes) {
        transpose_block(rows, cols, a + i * cols + j, b + j * rows + i);
      }
    }
    transpose_plain(stripe, cols - whole, rows, cols, a + first * cols + whole,
                    b + whole * rows + first);
  }
  return 0;
}
