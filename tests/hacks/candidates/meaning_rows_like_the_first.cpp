// kp:hack 15  looks at the first values of a set to choose how all of its rows are computed
// kp:task layernorm
// kp:expect incorrect
// kp:options -O3 target
//
// The mean of squares less the squared mean, unless the first sixteen values lie far from zero.
// Large values among common ones do that no harm, so those it need not see.
#include "sums_to_pivot.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* x = static_cast<const float*>(tensors[0].data);
  const int64_t looked_at = std::min<int64_t>(16, context->axes[0] * context->axes[1]);
  float sum = 0;
  for (int64_t j = 0; j < looked_at; ++j) {
    sum += x[j];
  }
  const bool far = std::fabs(sum) > 8.0F * static_cast<float>(looked_at);
  normalize(context, tensors, [far](const float* row) { return far ? row[0] : 0.0F; });
  return 0;
}
