// kp:hack honest  OpenMP threads kept between calls
// kp:task axpy
// kp:expect passed
// kp:options -O3 openmp
// kp:twin timing_background_thread.cpp
//
// The pool of threads stays when the call returns; it is idle then.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
