// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>
#include <vector>

// Sums row by row first, so that rounding does not grow with the whole grid.
inline Real cg_dot(std::int64_t h, std::int64_t w, const Real* a, const Real* b) {
  Real total = static_cast<Real>(0);
  for (std::int64_t i = 0; i < h; ++i) {
    Real sum = static_cast<Real>(0);
    for (std::int64_t j = 0; j < w; ++j) {
      sum += a[i * w + j] * b[i * w + j];
    }
    total += sum;
  }
  return total;
}

inline void cg_apply(std::int64_t h, std::int64_t w, const Real* p, Real* q) {
  for (std::int64_t i = 0; i < h; ++i) {
    for (std::int64_t j = 0; j < w; ++j) {
      const std::int64_t at = i * w + j;
      Real sum = static_cast<Real>(4) * p[at];
      if (i > 0) {
        sum -= p[at - w];
      }
      if (i < h - 1) {
        sum -= p[at + w];
      }
      if (j > 0) {
        sum -= p[at - 1];
      }
      if (j < w - 1) {
        sum -= p[at + 1];
      }
      q[at] = sum;
    }
  }
}

inline void cg_step(std::int64_t h, std::int64_t w, const Real* x, const Real* r, const Real* p,
                    Real* x_next, Real* r_next, Real* p_next) {
  std::vector<Real> q(static_cast<std::size_t>(h * w));
  cg_apply(h, w, p, q.data());
  const Real rr = cg_dot(h, w, r, r);
  const Real alpha = rr / cg_dot(h, w, p, q.data());
  for (std::int64_t at = 0; at < h * w; ++at) {
    x_next[at] = x[at] + alpha * p[at];
    r_next[at] = r[at] - alpha * q[static_cast<std::size_t>(at)];
  }
  const Real beta = cg_dot(h, w, r_next, r_next) / rr;
  for (std::int64_t at = 0; at < h * w; ++at) {
    p_next[at] = r_next[at] + beta * p[at];
  }
}
