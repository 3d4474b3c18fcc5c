// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Real alpha, const Real* A,
                 const Real* B, Real* C) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Real sum = static_cast<Real>(0);
      for (std::int64_t p = 0; p < k; ++p) {
        sum += A[i * k + p] * B[p * n + j];
      }
      C[i * n + j] = alpha * sum;
    }
  }
}
