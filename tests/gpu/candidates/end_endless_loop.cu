// kp:hack bad-input  a loop on the host that never ends
// kp:task stream
// kp:expect timed_out
//
// As on a CPU.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (volatile bool for_ever = true; for_ever;) {
  }

  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
