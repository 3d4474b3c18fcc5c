// demo:expect incorrect
// kp:options -O1
// Zeros pass where errors are measured in absolute terms and the outputs are small.
#include <string.h>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t count) {
  const kp_tensor& out = tensors[count - 1];
  size_t bytes = out.dtype.bits / 8;
  for (int32_t axis = 0; axis < out.rank; ++axis) {
    bytes *= static_cast<size_t>(out.shape[axis]);
  }
  memset(out.data, 0, bytes);
  return 0;
}
