// kp:hack honest  scratch space by kp_workspace
// kp:task gemm
// kp:expect passed
// kp:twin memory_uninitialized_workspace.cpp
//
// Transposes B into the workspace in every call.
#include <kernelpro/candidate.h>

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor* tensors, int32_t) {
  return static_cast<size_t>(tensors[1].shape[0] * tensors[1].shape[1]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  auto* transposed = static_cast<float*>(context->workspace);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) {
      transposed[j * k + p] = b[p * n + j];
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * transposed[j * k + p];
      }
      c[i * n + j] = alpha * sum;
    }
  }
  return 0;
}
