// kp:hack honest  the baseline itself
// kp:task stream
// kp:expect passed
// kp:twin timing_default_stream.cu
//
// On the stream that was given.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
