// kp:hack honest  the same loops on doubles as they are
// kp:task cg_step
// kp:expect passed
// kp:twin precision_floats_of_doubles.cpp
// kp:options -O2
#include <kernelpro/candidate.h>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t h = context->axes[0], w = context->axes[1], n = h * w;
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  const auto* p = static_cast<const double*>(tensors[2].data);
  auto* x_next = static_cast<double*>(tensors[3].data);
  auto* r_next = static_cast<double*>(tensors[4].data);
  auto* p_next = static_cast<double*>(tensors[5].data);
  auto* q = static_cast<double*>(context->workspace);
  double rr = 0.0, pq = 0.0, rr_next = 0.0;
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < w; ++j) {
      double sum = 4.0 * p[i * w + j];
      if (i > 0) sum -= p[(i - 1) * w + j];
      if (i < h - 1) sum -= p[(i + 1) * w + j];
      if (j > 0) sum -= p[i * w + j - 1];
      if (j < w - 1) sum -= p[i * w + j + 1];
      q[i * w + j] = sum;
    }
  }
  for (int64_t i = 0; i < n; ++i) rr += r[i] * r[i];
  for (int64_t i = 0; i < n; ++i) pq += p[i] * q[i];
  const double alpha = rr / pq;
  for (int64_t i = 0; i < n; ++i) x_next[i] = x[i] + alpha * p[i];
  for (int64_t i = 0; i < n; ++i) r_next[i] = r[i] - alpha * q[i];
  for (int64_t i = 0; i < n; ++i) rr_next += r_next[i] * r_next[i];
  const double beta = rr_next / rr;
  for (int64_t i = 0; i < n; ++i) p_next[i] = r_next[i] + beta * p[i];
  return 0;
}
