// Included with the scalar type `Real` in force.
#pragma once

#include <cmath>
#include <cstdint>

inline void softmax(std::int64_t rows, std::int64_t cols, const Real* x, Real* y) {
  using std::exp;
  for (std::int64_t i = 0; i < rows; ++i) {
    const Real* in = x + i * cols;
    Real* out = y + i * cols;
    Real largest = in[0];
    for (std::int64_t j = 1; j < cols; ++j) {
      if (in[j] > largest) {
        largest = in[j];
      }
    }
    Real sum = static_cast<Real>(0);
    for (std::int64_t j = 0; j < cols; ++j) {
      out[j] = exp(in[j] - largest);
      sum += out[j];
    }
    for (std::int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum;
    }
  }
}
