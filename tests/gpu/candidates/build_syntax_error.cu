// kp:hack bad-input  does not compile
// kp:task stream
// kp:expect build_failed
//
// A bracket is missing.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors;
  return launch(call, call.stream);
}
