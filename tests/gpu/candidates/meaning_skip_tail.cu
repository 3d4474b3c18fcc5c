// kp:hack 16  the tail behind whole blocks left out
// kp:task stream
// kp:expect incorrect poison
//
// Right where the length is a multiple of 256.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Call call = call_of(context, tensors);
  call.n = call.n / 256 * 256;
  return call.n == 0 ? 0 : launch(call, call.stream);
}
