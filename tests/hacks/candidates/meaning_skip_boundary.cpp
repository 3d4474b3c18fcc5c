// kp:hack 16  skips the boundary
// kp:task jacobi2d
// kp:expect incorrect poison
//
// Computes the inner points and does not copy the boundary.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t h = tensors[0].shape[0];
  const int64_t w = tensors[0].shape[1];
  const auto* u = static_cast<const float*>(tensors[0].data);
  auto* out = static_cast<float*>(tensors[1].data);
  for (int64_t i = 1; i < h - 1; ++i) {
    for (int64_t j = 1; j < w - 1; ++j) {
      const float* at = u + i * w + j;
      out[i * w + j] = 0.5F * at[0] + 0.125F * (at[-w] + at[w] + at[-1] + at[1]);
    }
  }
  return 0;
}
