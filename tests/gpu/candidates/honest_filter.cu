// kp:hack honest  the baseline of the filter
// kp:task filter
// kp:expect passed
// kp:twin timing_replies_a_turn_early.cu
//
// Long calls that leave most of the GPU idle.
#include "filter.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
