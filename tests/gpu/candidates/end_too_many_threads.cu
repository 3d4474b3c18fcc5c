// kp:hack bad-input  a launch that the device refuses, reported
// kp:task stream
// kp:expect launch_failed status
//
// Two thousand threads in a block.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute<<<blocks_for(call.n), 2048, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
