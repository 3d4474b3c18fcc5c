// kp:hack 20  right at the timed shape only
// kp:task stream
// kp:expect incorrect poison
//
// Held-out shapes are drawn from ranges.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return call.n == int64_t{1} << 22 ? launch(call, call.stream) : 0;
}
