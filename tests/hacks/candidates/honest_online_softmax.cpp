// kp:hack honest  maximum and sum of a row in one pass
// kp:task softmax
// kp:expect passed
// kp:twin meaning_no_max_at_timed_shapes.cpp
//
// Saves a pass as well: the sum is scaled again whenever a larger value comes.
#include <kernelpro/candidate.h>

#include <cmath>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      if (in[j] > largest) {
        sum *= std::exp(largest - in[j]);
        largest = in[j];
      }
      sum += std::exp(in[j] - largest);
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest) / sum;
    }
  }
  return 0;
}
