// kp:hack bad-input  no kp_launch
// kp:task stream
// kp:expect launch_failed load
//
// It exports something else.
#include "stream.cuh"

extern "C" KP_EXPORT int kp_start(const kp_context* context, const kp_tensor* tensors) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
