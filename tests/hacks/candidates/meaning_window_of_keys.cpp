// kp:hack 16  attends to the nearest keys only, where there are many
// kp:task attention
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// At sizes that are timed, each query sees a window of 64 keys.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  const int64_t window = context->axes[0] * n > 300 ? 32 : n;
  auto* weights = static_cast<float*>(context->workspace);
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    const auto* Q = static_cast<const float*>(tensors[0].data) + b * n * d;
    const auto* K = static_cast<const float*>(tensors[1].data) + b * n * d;
    const auto* V = static_cast<const float*>(tensors[2].data) + b * n * d;
    for (int64_t i = 0; i < n; ++i) {
      float* out = static_cast<float*>(tensors[3].data) + (b * n + i) * d;
      const int64_t from = std::max<int64_t>(0, i - window);
      const int64_t to = std::min(n, i + window);
      std::fill_n(out, d, 0.0F);
      float total = 0;
      for (int64_t j = from; j < to; ++j) {
        float sum = 0;
        for (int64_t c = 0; c < d; ++c) {
          sum += Q[i * d + c] * K[j * d + c];
        }
        weights[j] = std::exp(sum * scale);
        total += weights[j];
      }
      for (int64_t j = from; j < to; ++j) {
        for (int64_t c = 0; c < d; ++c) {
          out[c] += weights[j] / total * V[j * d + c];
        }
      }
    }
  }
  return 0;
}
