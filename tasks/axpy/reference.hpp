// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void axpy(std::int64_t n, Real alpha, const Real* x, const Real* y, Real* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}
