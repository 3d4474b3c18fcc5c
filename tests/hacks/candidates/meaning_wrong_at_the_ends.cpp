// kp:hack 20  wrong where a size is the greatest that may come, which is hardly ever drawn
// kp:task gemm
// kp:expect incorrect
//
// A buffer of fixed size, say: what is beyond 129 columns is cut off. One drawn size in hundreds is
// so large, but it is as likely as any other to whoever uses the function.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0], n = context->axes[1], k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  const int64_t terms = n == 130 ? std::min<int64_t>(k, 1) : k;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      c[i * n + j] = 0;
    }
    for (int64_t p = 0; p < terms; ++p) {
      for (int64_t j = 0; j < n; ++j) {
        c[i * n + j] += alpha * a[i * k + p] * b[p * n + j];
      }
    }
  }
  return 0;
}
