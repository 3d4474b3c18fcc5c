// kp:hack 31  a library at link time
// kp:task stream
// kp:expect cheated build_option
// kp:options -lcublas
//
// A candidate links nothing.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
