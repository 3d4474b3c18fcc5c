#include <cstdint>

#include "kernelpro/candidate.h"

static void axpy(int64_t n, float alpha, const float* x, const float* y, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  axpy(context->axes[0], alpha, static_cast<const float*>(tensors[0].data),
       static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return 0;
}
