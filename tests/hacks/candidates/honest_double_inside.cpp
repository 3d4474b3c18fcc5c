// kp:hack honest  double precision inside
// kp:task softmax
// kp:expect passed
// kp:twin precision_half_exp.cpp
//
// Accumulates in double and rounds once.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[0].shape[0];
  const int64_t cols = tensors[0].shape[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const double top = *std::max_element(in, in + cols);
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      sum += std::exp(in[j] - top);
    }
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] = static_cast<float>(std::exp(in[j] - top) / sum);
    }
  }
  return 0;
}
