#include <cstdint>

#include "kernelpro/candidate.h"

static void cg_step(int64_t h, int64_t w, const double* x, const double* r, const double* p,
                    double* q, double* x_next, double* r_next, double* p_next) {
  const int64_t n = h * w;
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < w; ++j) {
      double sum = 4.0 * p[i * w + j];
      if (i > 0) {
        sum -= p[(i - 1) * w + j];
      }
      if (i < h - 1) {
        sum -= p[(i + 1) * w + j];
      }
      if (j > 0) {
        sum -= p[i * w + j - 1];
      }
      if (j < w - 1) {
        sum -= p[i * w + j + 1];
      }
      q[i * w + j] = sum;
    }
  }
  double rr = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    rr += r[i] * r[i];
  }
  double pq = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    pq += p[i] * q[i];
  }
  const double alpha = rr / pq;
  for (int64_t i = 0; i < n; ++i) {
    x_next[i] = x[i] + alpha * p[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    r_next[i] = r[i] - alpha * q[i];
  }
  double rr_next = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    rr_next += r_next[i] * r_next[i];
  }
  const double beta = rr_next / rr;
  for (int64_t i = 0; i < n; ++i) {
    p_next[i] = r_next[i] + beta * p[i];
  }
}

// For q = A p.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  cg_step(context->axes[0], context->axes[1], static_cast<const double*>(tensors[0].data),
          static_cast<const double*>(tensors[1].data), static_cast<const double*>(tensors[2].data),
          static_cast<double*>(context->workspace), static_cast<double*>(tensors[3].data),
          static_cast<double*>(tensors[4].data), static_cast<double*>(tensors[5].data));
  return 0;
}
