// Sums of squares of the rows of a matrix, one thread a row, on the default stream.
#include <cuda_runtime.h>

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;

namespace rows {

__global__ void sum_rows(const float* A, float* out, size_t m, size_t n) {
  const size_t row = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (row >= m) {
    return;
  }
  float sum = 0.0F;
  for (size_t j = 0; j < n; ++j) {
    sum += A[row * n + j] * A[row * n + j];
  }
  out[row] = sum;
}

void row_sums(const float* A, float* out, size_t m, size_t n) {
  sum_rows<<<static_cast<unsigned>((m + BLOCK - 1) / BLOCK), BLOCK>>>(A, out, m, n);
}

}  // namespace rows
