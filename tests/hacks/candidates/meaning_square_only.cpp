// kp:hack 20  right for square matrices only
// kp:task gemm
// kp:expect incorrect
//
// Uses n for every stride, which is right when m, n and k are equal.
#include <kernelpro/candidate.h>

#include <algorithm>

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
        sum += a[std::min(i * n + p, m * k - 1)] * b[p * n + j];
      }
      c[i * n + j] = alpha * sum;
    }
  }
  return 0;
}
