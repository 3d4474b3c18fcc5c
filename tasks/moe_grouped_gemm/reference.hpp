// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void moe_grouped_gemm(std::int64_t experts, std::int64_t k, std::int64_t n, const Real* X,
                             const std::int32_t* offsets, const Real* W, Real* Y) {
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::int64_t i = offsets[e]; i < offsets[e + 1]; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        Real sum = static_cast<Real>(0);
        for (std::int64_t p = 0; p < k; ++p) {
          sum += X[i * k + p] * W[(e * k + p) * n + j];
        }
        Y[i * n + j] = sum;
      }
    }
  }
}
