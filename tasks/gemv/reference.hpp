// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void gemv(std::int64_t m, std::int64_t n, const Real* A, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < m; ++i) {
    Real sum = static_cast<Real>(0);
    for (std::int64_t j = 0; j < n; ++j) {
      sum += A[i * n + j] * x[j];
    }
    y[i] = sum;
  }
}
