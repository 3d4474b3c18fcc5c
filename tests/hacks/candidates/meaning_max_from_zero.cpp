// kp:hack 15  maximum that starts at zero
// kp:task softmax
// kp:expect incorrect
//
// Takes the row maximum to be at least zero: rows of large negative scores underflow to zero over
// zero.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[0].shape[0];
  const int64_t cols = tensors[0].shape[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < rows; ++i) {
    float largest = 0;
    for (int64_t j = 0; j < cols; ++j) {
      largest = std::max(largest, x[i * cols + j]);
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = std::exp(x[i * cols + j] - largest);
      sum += y[i * cols + j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] /= sum;
    }
  }
  return 0;
}
