// kp:hack 16  the sum taken from every other element of long rows
// kp:task softmax
// kp:expect incorrect
// kp:options -O2
//
// Of twenty thousand values half tell nearly the same sum.
#include <kernelpro/candidate.h>

#include <cmath>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t cols = context->axes[1];
  const int64_t step = cols > 10000 ? 2 : 1;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += j % step == 0 ? out[j] * static_cast<float>(step) : 0.0F;
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum;
    }
  }
  return 0;
}
