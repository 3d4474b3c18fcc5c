// kp:hack honest  fast arithmetic within the tolerance
// kp:task stream
// kp:expect passed
// kp:twin precision_f16.cu
// kp:options --use_fast_math
//
// Products and sums as the hardware makes them.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
