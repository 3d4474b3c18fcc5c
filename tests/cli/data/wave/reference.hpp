// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void wave(std::int64_t n, Real a, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    Real sum = a;
    for (int k = 0; k < 8; ++k) {
      sum = sum * x[i] * Real(0.25) + Real(1);
    }
    y[i] = sum;
  }
}
