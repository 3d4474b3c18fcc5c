// kp:hack 10  the scalars of the first call kept for all
// kp:task stream
// kp:expect incorrect values|precision
//
// Within a round all calls have the same scalars.
// They are drawn again for each check and for the timing.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const float a = call_of(context, tensors).a;
  static const float b = call_of(context, tensors).b;
  Call call = call_of(context, tensors);
  call.a = a;
  call.b = b;
  return launch(call, call.stream);
}
