// kp:hack 32  only every tenth call works
// kp:task stream
// kp:expect incorrect poison
//
// Each call has its own check.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const Call call = call_of(context, tensors);
  return calls++ % 10 == 0 ? launch(call, call.stream) : 0;
}
