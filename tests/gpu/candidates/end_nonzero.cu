// kp:hack bad-input  returns an error
// kp:task stream
// kp:expect launch_failed status
//
// It says so itself.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  launch(call, call.stream);
  return 7;
}
