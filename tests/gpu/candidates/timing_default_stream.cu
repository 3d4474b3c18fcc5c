// kp:hack 1  work on the default stream
// kp:task stream
// kp:expect cheated|incorrect clock|values
//
// The given stream does not wait for the default one, so the stamps enclose nothing.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  return launch(call_of(context, tensors), nullptr);
}
