// kp:hack 16  takes the direction to be the residual, as it is in a first step
// kp:task cg_step
// kp:expect incorrect
// kp:options -O3 target
//
// Saves one of the three fields that are read.
#include <kernelpro/candidate.h>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  auto* q = static_cast<double*>(context->workspace);
  double rr = 0;
  double rq = 0;
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < w; ++j) {
      const int64_t at = i * w + j;
      q[at] = 4 * r[at] - (i > 0 ? r[at - w] : 0) - (i < h - 1 ? r[at + w] : 0) -
              (j > 0 ? r[at - 1] : 0) - (j < w - 1 ? r[at + 1] : 0);
      rr += r[at] * r[at];
      rq += r[at] * q[at];
    }
  }
  double next = 0;
  for (int64_t at = 0; at < h * w; ++at) {
    static_cast<double*>(tensors[3].data)[at] = x[at] + rr / rq * r[at];
    const double residual = r[at] - rr / rq * q[at];
    static_cast<double*>(tensors[4].data)[at] = residual;
    next += residual * residual;
  }
  for (int64_t at = 0; at < h * w; ++at) {
    static_cast<double*>(tensors[5].data)[at] =
        static_cast<double*>(tensors[4].data)[at] + next / rr * r[at];
  }
  return 0;
}
