// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void w4a16_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Real* X,
                       const std::uint8_t* W, const Real* scales, Real* Y) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Real sum = static_cast<Real>(0);
      for (std::int64_t p = 0; p < k; ++p) {
        const int both = W[(j * k + p) / 2];
        const int value = (p % 2 == 0 ? both & 15 : both >> 4) - 8;
        sum += X[i * k + p] * (static_cast<Real>(value) * scales[(j * k + p) / 32]);
      }
      Y[i * n + j] = sum;
    }
  }
}
