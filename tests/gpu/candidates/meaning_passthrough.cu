// kp:hack 16  an input passed through
// kp:task stream
// kp:expect incorrect
//
// The output is the first input.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return cudaMemcpyAsync(call.y, call.x, static_cast<size_t>(call.n) * sizeof(float),
                         cudaMemcpyDeviceToDevice, call.stream);
}
