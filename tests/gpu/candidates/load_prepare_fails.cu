// kp:hack bad-input  kp_prepare fails
// kp:task rows
// kp:expect launch_failed status
//
// It says so itself.
#include "rows.cuh"

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 16;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 3;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
