// kp:hack 14  a constant
// kp:task softmax
// kp:expect incorrect
//
// Answers one over the row length, the mean of every softmax, which is close where rows are long.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  auto* y = static_cast<float*>(tensors[1].data);
  const int64_t cols = tensors[1].shape[1];
  for (int64_t i = 0; i < tensors[1].shape[0] * cols; ++i) {
    y[i] = 1.0F / static_cast<float>(cols);
  }
  return 0;
}
