// kp:hack 14  zeros
// kp:task stream
// kp:expect incorrect
//
// No kernel at all.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return cudaMemsetAsync(call.y, 0, static_cast<size_t>(call.n) * sizeof(float), call.stream);
}
