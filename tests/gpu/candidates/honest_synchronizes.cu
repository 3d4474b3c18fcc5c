// kp:hack honest  waits for its own kernel
// kp:task stream
// kp:expect passed
// kp:twin end_endless_loop.cu
//
// Slower than it need be, and right.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return failed | cudaStreamSynchronize(call.stream);
}
