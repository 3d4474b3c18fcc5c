// kp:hack honest  all inner products of a step in one pass, as on many processors
// kp:task cg_step
// kp:expect passed
// kp:twin meaning_direction_is_the_residual.cpp
// kp:options -O3 target
//
// |r - alpha q|^2 follows from r r, r q and q q, so that the step needs one reduction and not two.
#include <kernelpro/candidate.h>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  const auto* p = static_cast<const double*>(tensors[2].data);
  auto* q = static_cast<double*>(context->workspace);
  double rr = 0;
  double pq = 0;
  double rq = 0;
  double qq = 0;
  for (int64_t i = 0; i < h; ++i) {
    double sums[4] = {};
    for (int64_t j = 0; j < w; ++j) {
      const int64_t at = i * w + j;
      q[at] = 4 * p[at] - (i > 0 ? p[at - w] : 0) - (i < h - 1 ? p[at + w] : 0) -
              (j > 0 ? p[at - 1] : 0) - (j < w - 1 ? p[at + 1] : 0);
      sums[0] += r[at] * r[at];
      sums[1] += p[at] * q[at];
      sums[2] += r[at] * q[at];
      sums[3] += q[at] * q[at];
    }
    rr += sums[0];
    pq += sums[1];
    rq += sums[2];
    qq += sums[3];
  }
  const double alpha = rr / pq;
  const double beta = (rr - 2 * alpha * rq + alpha * alpha * qq) / rr;
  for (int64_t at = 0; at < h * w; ++at) {
    const double residual = r[at] - alpha * q[at];
    static_cast<double*>(tensors[3].data)[at] = x[at] + alpha * p[at];
    static_cast<double*>(tensors[4].data)[at] = residual;
    static_cast<double*>(tensors[5].data)[at] = residual + beta * p[at];
  }
  return 0;
}
