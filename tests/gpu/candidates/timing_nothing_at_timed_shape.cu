// kp:hack 8  nothing at the timed shape
// kp:task stream
// kp:expect incorrect poison
//
// Right everywhere but where it counts.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return call.n == int64_t{1} << 22 ? 0 : launch(call, call.stream);
}
