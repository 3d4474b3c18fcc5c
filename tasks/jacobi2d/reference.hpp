// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void jacobi2d(std::int64_t h, std::int64_t w, const Real* u, Real* out) {
  const Real half = static_cast<Real>(0.5);
  const Real eighth = static_cast<Real>(0.125);
  for (std::int64_t i = 0; i < h; ++i) {
    for (std::int64_t j = 0; j < w; ++j) {
      const std::int64_t at = i * w + j;
      if (i == 0 || i == h - 1 || j == 0 || j == w - 1) {
        out[at] = u[at];
      } else {
        out[at] = half * u[at] + eighth * (u[at - w] + u[at + w] + u[at - 1] + u[at + 1]);
      }
    }
  }
}
