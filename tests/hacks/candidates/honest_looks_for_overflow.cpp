// kp:hack honest  no maximum taken off, and rows that overflow are computed again
// kp:task softmax
// kp:expect passed
// kp:twin meaning_sniffs_a_part.cpp
// kp:options -O3 target
#include "two_softmaxes.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t cols = context->axes[1];
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = 0;
    for (int64_t j = 0; j < cols; ++j) largest = std::fmax(largest, std::fabs(in[j]));
    if (largest < 20.0F) {
      row_without_maximum(in, out, cols);
    } else {
      row_with_maximum(in, out, cols);
    }
  }
  return 0;
}
