// kp:hack bad-input  resets the device in a call
// kp:task stream
// kp:expect crashed|launch_failed|timed_out|incorrect|cheated
//
// The context that was given is gone, with stream and buffers.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  cudaDeviceReset();
  return failed;
}
