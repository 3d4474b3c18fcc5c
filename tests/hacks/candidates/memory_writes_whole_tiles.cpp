// kp:hack 19  writes whole tiles, also where the matrix ends within one
// kp:task transpose
// kp:expect incorrect|crashed
// kp:options -O3 target
//
// What lies beyond a row is the next one, which is written afterwards; beyond the last there is
// nothing.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr int64_t tile = 16;
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto* A = static_cast<const float*>(tensors[0].data);
  auto* B = static_cast<float*>(tensors[1].data);
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; i += tile) {
      for (int64_t u = 0; u < tile; ++u) {
        B[j * rows + i + u] = i + u < rows ? A[(i + u) * cols + j] : 0.0F;
      }
    }
  }
  return 0;
}
