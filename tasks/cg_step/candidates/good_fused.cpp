// kp:options -O3 target openmp
// Seven passes become three, each shared among the threads by rows: A p with both inner products;
// the new x and r with the norm of r; the new p.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

struct Sums {
  double rr = 0;
  double pq = 0;
};

// One row of q = A p with the row's share of r.r and p.q. Rows outside the grid are a row of zeros.
Sums apply_row(int64_t w, const double* __restrict above, const double* __restrict p,
               const double* __restrict below, const double* __restrict r, double* __restrict q) {
  q[0] = 4.0 * p[0] - above[0] - below[0] - p[1];
  for (int64_t j = 1; j < w - 1; ++j) {
    q[j] = 4.0 * p[j] - above[j] - below[j] - p[j - 1] - p[j + 1];
  }
  q[w - 1] = 4.0 * p[w - 1] - above[w - 1] - below[w - 1] - p[w - 2];
  double rr = 0.0;
  double pq = 0.0;
#pragma omp simd reduction(+ : rr, pq)
  for (int64_t j = 0; j < w; ++j) {
    rr += r[j] * r[j];
    pq += p[j] * q[j];
  }
  return {rr, pq};
}

// The new x and r of one row; `r_next` holds q = A p before. The row's share of the norm.
double advance_row(int64_t w, double alpha, const double* __restrict x, const double* __restrict r,
                   const double* __restrict p, double* __restrict x_next,
                   double* __restrict r_next) {
  double rr = 0.0;
#pragma omp simd reduction(+ : rr)
  for (int64_t j = 0; j < w; ++j) {
    x_next[j] = x[j] + alpha * p[j];
    const double value = r[j] - alpha * r_next[j];
    r_next[j] = value;
    rr += value * value;
  }
  return rr;
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
  double rr_next = 0.0;
#pragma omp parallel num_threads(context->threads)
  {
#pragma omp for schedule(static) reduction(+ : rr, pq)
    for (int64_t i = 0; i < h; ++i) {
      const double* row = p + i * w;
      const Sums sums = apply_row(w, i > 0 ? row - w : zeros, row, i < h - 1 ? row + w : zeros,
                                  r + i * w, r_next + i * w);
      rr += sums.rr;
      pq += sums.pq;
    }
    const double alpha = rr / pq;
#pragma omp for schedule(static) reduction(+ : rr_next)
    for (int64_t i = 0; i < h; ++i) {
      rr_next +=
          advance_row(w, alpha, x + i * w, r + i * w, p + i * w, x_next + i * w, r_next + i * w);
    }
    const double beta = rr_next / rr;
#pragma omp for simd schedule(static)
    for (int64_t at = 0; at < h * w; ++at) {
      p_next[at] = r_next[at] + beta * p[at];
    }
  }
  return 0;
}
