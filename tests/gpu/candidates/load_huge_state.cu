// kp:hack bad-input  asks for more state than the card has
// kp:task stream
// kp:expect out_of_memory
//
// Two hundred gibibytes for each set.
#include "stream.cuh"

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return size_t{200} << 30;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
