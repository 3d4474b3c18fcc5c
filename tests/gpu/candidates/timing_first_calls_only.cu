// kp:hack 5  right for the first twenty calls
// kp:task stream
// kp:expect incorrect poison
//
// Enough to come through the checks; afterwards it does nothing.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const Call call = call_of(context, tensors);
  return ++calls > 20 ? 0 : launch(call, call.stream);
}
