// kp:hack honest  fast-math within tolerance
// kp:task gemm
// kp:expect passed
// kp:options -O3 -ffast-math
// kp:twin precision_tf32_gemm.cpp
//
// The compiler may reorder the sums; the error stays that of single precision.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m; ++i) {
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
