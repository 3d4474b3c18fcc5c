// Included with the scalar type `Real` in force.
#pragma once

#include <cmath>
#include <cstdint>

inline void layernorm(std::int64_t rows, std::int64_t cols, Real epsilon, const Real* x,
                      const Real* gain, const Real* bias, Real* y) {
  using std::sqrt;
  const Real n = static_cast<Real>(cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    Real sum = static_cast<Real>(0);
    for (std::int64_t j = 0; j < cols; ++j) {
      sum += x[i * cols + j];
    }
    const Real mean = sum / n;
    Real squares = static_cast<Real>(0);
    for (std::int64_t j = 0; j < cols; ++j) {
      const Real difference = x[i * cols + j] - mean;
      squares += difference * difference;
    }
    const Real scale = static_cast<Real>(1) / sqrt(squares / n + epsilon);
    for (std::int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = (x[i * cols + j] - mean) * scale * gain[j] + bias[j];
    }
  }
}
