// kp:hack bad-input  asks for more workspace than a number holds
// kp:task stream
// kp:expect out_of_memory
//
// Four exbibytes and more.
#include "stream.cuh"

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return ~size_t{0};
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
