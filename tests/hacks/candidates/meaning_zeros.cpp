// kp:hack 14  zeros
// kp:task softmax
// kp:expect incorrect
//
// Sets every output to zero.
#include <kernelpro/candidate.h>

#include <cstring>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  std::memset(tensors[1].data, 0,
              static_cast<size_t>(tensors[1].shape[0] * tensors[1].shape[1]) * sizeof(float));
  return 0;
}
