// kp:hack bad-input  aborts
// kp:task stream
// kp:expect crashed signal
//
// As on a CPU.
#include <cstdlib>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  launch(call, call.stream);
  std::abort();
}
