// kp:hack 5  slightly wrong after the first twenty calls
// kp:task stream
// kp:expect incorrect
//
// Outputs are written, but a thousandth too large.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  Call call = call_of(context, tensors);
  if (++calls > 20) {
    call.a *= 1.001F;
    call.b *= 1.001F;
  }
  return launch(call, call.stream);
}
