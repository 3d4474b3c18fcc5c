// kp:hack honest  takes a row's first value off, and does a row again whose sum asks for it
// kp:task softmax
// kp:expect passed
// kp:twin meaning_no_max.cpp
// kp:options -O3 target
//
// What lies more than 80 above the first value is cut off there; the sum shows it, and such a row
// has its maximum taken off. No other row needs one: its sum is one at least.
#include "two_softmaxes.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr double most = 1e30;
  const int64_t cols = context->axes[1];
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    const float pivot = in[0];
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      const float x = in[j] - pivot;
      out[j] = x < -87.0F ? 0.0F : polynomial_exp(x < -87.0F ? -87.0F : x > 80.0F ? 80.0F : x);
      sum += out[j];
    }
    if (!(sum < most)) {
      row_with_maximum(in, out, cols);
      continue;
    }
    const float by = static_cast<float>(1.0 / sum);
    for (int64_t j = 0; j < cols; ++j) out[j] *= by;
  }
  return 0;
}
