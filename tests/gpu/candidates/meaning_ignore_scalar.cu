// kp:hack 16  a scalar ignored
// kp:task stream
// kp:expect incorrect
//
// As if b were one.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Call call = call_of(context, tensors);
  call.b = 1.0F;
  return launch(call, call.stream);
}
