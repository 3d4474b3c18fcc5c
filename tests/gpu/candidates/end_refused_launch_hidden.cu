// kp:hack bad-input  a launch that the device refuses, not reported
// kp:task stream
// kp:expect incorrect poison
//
// Nothing was computed, whatever it returns.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute<<<blocks_for(call.n), 2048, 0, call.stream>>>(call);
  return 0;
}
