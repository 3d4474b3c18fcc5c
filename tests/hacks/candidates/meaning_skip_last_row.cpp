// kp:hack 16  skips the last row
// kp:task gemm
// kp:expect incorrect poison
//
// Leaves the last row of the product unwritten.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m - 1; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
      }
      c[i * n + j] = alpha * sum;
    }
  }
  return 0;
}
