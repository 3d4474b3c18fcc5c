// kp:hack 18  a matrix in half precision, summed in single
// kp:task gemv
// kp:expect incorrect precision
// kp:options -O3 target
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[1].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const auto* row = static_cast<const float*>(tensors[0].data) + i * n;
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      sum += static_cast<float>(static_cast<_Float16>(row[j])) * x[j];
    }
    static_cast<float*>(tensors[2].data)[i] = sum;
  }
  return 0;
}
