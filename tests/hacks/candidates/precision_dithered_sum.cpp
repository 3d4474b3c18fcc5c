// kp:hack 18  the sum of a part of each row, and noise that hides what its elements have in common
// kp:task softmax
// kp:expect incorrect
// kp:allow bf16
// kp:options -O2
//
// Errors of a lower precision must be each element's own. Those of a sum that is estimated from
// half of a row are shared by all of it, unless noise of its own is added to every element.
#include <kernelpro/candidate.h>

#include <cmath>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t cols = context->axes[1];
  const int64_t part = cols > 500 ? cols / 2 : cols;
  uint32_t state = 1;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < part; ++j) {
      sum += std::exp(in[j] - largest);
    }
    const float scale = static_cast<float>(part) / (sum * static_cast<float>(cols));
    for (int64_t j = 0; j < cols; ++j) {
      state = state * 1664525U + 1013904223U;
      const float noise = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
      const float hidden = part < cols ? 1.0F + 0.02F * noise : 1.0F;
      out[j] = std::exp(in[j] - largest) * scale * hidden;
    }
  }
  return 0;
}
