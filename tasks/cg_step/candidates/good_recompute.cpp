// kp:options -O3 target openmp
// Single-threaded: A p is never stored. The pass that needs it for alpha and the pass that needs it
// for r both compute it from p, which they read anyway, so a whole array less goes through memory.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// p with what surrounds it; rows outside the grid are a row of zeros.
struct Rows {
  const double* above;
  const double* here;
  const double* below;

  [[nodiscard]] double inner(int64_t j) const {
    return 4.0 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
  }
  [[nodiscard]] double first() const { return 4.0 * here[0] - above[0] - below[0] - here[1]; }
  [[nodiscard]] double last(int64_t w) const {
    return 4.0 * here[w - 1] - above[w - 1] - below[w - 1] - here[w - 2];
  }
};

Rows rows_of(int64_t h, int64_t w, int64_t i, const double* p, const double* zeros) {
  const double* row = p + i * w;
  return {i > 0 ? row - w : zeros, row, i < h - 1 ? row + w : zeros};
}

double squares_of(int64_t n, const double* r) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < n; ++j) {
    sum += r[j] * r[j];
  }
  return sum;
}

// A row's share of p.(A p).
double product_of(int64_t w, const Rows& p) {
  double sum = p.here[0] * p.first() + p.here[w - 1] * p.last(w);
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 1; j < w - 1; ++j) {
    sum += p.here[j] * p.inner(j);
  }
  return sum;
}

// The new x and r of one row.
void advance_row(int64_t w, double alpha, const Rows& p, const double* __restrict x,
                 const double* __restrict r, double* __restrict x_next, double* __restrict r_next) {
  r_next[0] = r[0] - alpha * p.first();
  r_next[w - 1] = r[w - 1] - alpha * p.last(w);
#pragma omp simd
  for (int64_t j = 1; j < w - 1; ++j) {
    r_next[j] = r[j] - alpha * p.inner(j);
  }
  for (int64_t j = 0; j < w; ++j) {
    x_next[j] = x[j] + alpha * p.here[j];
  }
}

}  // namespace

// A row of zeros.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[1]) * sizeof(double);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  if (count != 6 || w < 2 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  const auto* p = static_cast<const double*>(tensors[2].data);
  auto* x_next = static_cast<double*>(tensors[3].data);
  auto* r_next = static_cast<double*>(tensors[4].data);
  auto* p_next = static_cast<double*>(tensors[5].data);
  auto* zeros = static_cast<double*>(context->workspace);
  for (int64_t j = 0; j < w; ++j) {
    zeros[j] = 0.0;
  }
  double rr = 0.0;
  double pq = 0.0;
  for (int64_t i = 0; i < h; ++i) {
    rr += squares_of(w, r + i * w);
    pq += product_of(w, rows_of(h, w, i, p, zeros));
  }
  const double alpha = rr / pq;
  double rr_next = 0.0;
  for (int64_t i = 0; i < h; ++i) {
    advance_row(w, alpha, rows_of(h, w, i, p, zeros), x + i * w, r + i * w, x_next + i * w,
                r_next + i * w);
    rr_next += squares_of(w, r_next + i * w);
  }
  const double beta = rr_next / rr;
#pragma omp simd
  for (int64_t at = 0; at < h * w; ++at) {
    p_next[at] = r_next[at] + beta * p[at];
  }
  return 0;
}
