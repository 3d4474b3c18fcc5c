// kp:hack 15  no maximum taken off where only normal values are thought to come
// kp:task softmax
// kp:expect incorrect
//
// Numerically stable at every shape but the timed ones: there the exponentials of normal values
// cannot overflow, and a pass over the row is saved.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const bool timed = (rows == 512 && cols == 1000) || (rows == 37 && cols == 20011);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    const float largest = timed ? 0.0F : *std::max_element(in, in + cols);
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] /= sum;
    }
  }
  return 0;
}
