// kp:hack honest  waits for its own kernel, where a call is long
// kp:task filter
// kp:expect passed
// kp:twin timing_single_ahead_replies_early.cu
//
// It has no gate, is timed by the host's clock, and pays for its wait in rounds as well.
#include "filter.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream) != 0 || cudaStreamSynchronize(call.stream) != cudaSuccess;
}
