// Included with the scalar type `Real` in force.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

// The output of one query from the keys and values of its head.
inline void attend(std::int64_t n, std::int64_t d, const Real* q, const Real* K, const Real* V,
                   Real* o) {
  using std::exp;
  using std::sqrt;
  const Real scale = static_cast<Real>(1) / sqrt(static_cast<Real>(d));
  std::vector<Real> weights;
  Real largest = static_cast<Real>(0);
  for (std::int64_t j = 0; j < n; ++j) {
    Real sum = static_cast<Real>(0);
    for (std::int64_t c = 0; c < d; ++c) {
      sum += q[c] * K[j * d + c];
    }
    weights.push_back(sum * scale);
    if (j == 0 || weights.back() > largest) {
      largest = weights.back();
    }
  }
  Real total = static_cast<Real>(0);
  for (Real& weight : weights) {
    weight = exp(weight - largest);
    total += weight;
  }
  for (std::int64_t c = 0; c < d; ++c) {
    Real sum = static_cast<Real>(0);
    for (std::int64_t j = 0; j < n; ++j) {
      sum += weights[static_cast<std::size_t>(j)] * V[j * d + c];
    }
    o[c] = sum / total;
  }
}

inline void attention(std::int64_t heads, std::int64_t n, std::int64_t d, const Real* Q,
                      const Real* K, const Real* V, Real* O) {
  for (std::int64_t b = 0; b < heads; ++b) {
    for (std::int64_t i = 0; i < n; ++i) {
      attend(n, d, Q + (b * n + i) * d, K + b * n * d, V + b * n * d, O + (b * n + i) * d);
    }
  }
}
