// kp:hack 18  doubles are rounded to single precision as they are read
// kp:task cg_step
// kp:expect incorrect
// kp:options -O2
//
// It passed while the doubles of inputs had no more bits than floats: nothing is lost of those.
#include <kernelpro/candidate.h>

static inline double in(double value) {
  return static_cast<double>(static_cast<float>(value));
}

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
      double sum = 4.0 * in(p[i * w + j]);
      if (i > 0) sum -= in(p[(i - 1) * w + j]);
      if (i < h - 1) sum -= in(p[(i + 1) * w + j]);
      if (j > 0) sum -= in(p[i * w + j - 1]);
      if (j < w - 1) sum -= in(p[i * w + j + 1]);
      q[i * w + j] = sum;
    }
  }
  for (int64_t i = 0; i < n; ++i) rr += in(r[i]) * in(r[i]);
  for (int64_t i = 0; i < n; ++i) pq += in(p[i]) * q[i];
  const double alpha = rr / pq;
  for (int64_t i = 0; i < n; ++i) x_next[i] = in(x[i]) + alpha * in(p[i]);
  for (int64_t i = 0; i < n; ++i) r_next[i] = in(r[i]) - alpha * q[i];
  for (int64_t i = 0; i < n; ++i) rr_next += r_next[i] * r_next[i];
  const double beta = rr_next / rr;
  for (int64_t i = 0; i < n; ++i) p_next[i] = r_next[i] + beta * in(p[i]);
  return 0;
}
