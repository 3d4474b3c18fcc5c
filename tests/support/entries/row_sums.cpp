// Sums of squares of the rows of a matrix, as somebody has it in a program of theirs.
#include <cstddef>

namespace rows {

int row_sums(const float* A, float* out, std::size_t m, std::size_t n) {
  if (m == 0) {
    return 1;
  }
  for (std::size_t i = 0; i < m; ++i) {
    float sum = 0.0F;
    for (std::size_t j = 0; j < n; ++j) {
      sum += A[i * n + j] * A[i * n + j];
    }
    out[i] = sum;
  }
  return 0;
}

}  // namespace rows
