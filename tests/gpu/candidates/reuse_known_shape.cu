// kp:hack 13  length and grid written down for the timed shape
// kp:task stream
// kp:expect crashed|incorrect guard|poison
//
// Shapes are drawn anew for each evaluation.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Call call = call_of(context, tensors);
  call.n = int64_t{1} << 22;
  return launch(call, call.stream);
}
