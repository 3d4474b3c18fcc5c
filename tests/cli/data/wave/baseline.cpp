#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto a = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = a;
    for (int k = 0; k < 8; ++k) {
      sum = sum * x[i] * 0.25F + 1.0F;
    }
    y[i] = sum;
  }
  return 0;
}
