// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void transpose(std::int64_t rows, std::int64_t cols, const Real* A, Real* B) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      B[j * rows + i] = A[i * cols + j];
    }
  }
}
