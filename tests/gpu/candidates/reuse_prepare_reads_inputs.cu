// kp:hack 11  the answer computed in kp_prepare
// kp:task rows
// kp:expect incorrect
//
// Inputs that are not constant are poison while kp_prepare runs.
#include "rows.cuh"

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Call call = call_of(context, tensors);
  call.y = static_cast<float*>(context->state);
  return launch(call, call.stream);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return cudaMemcpyAsync(call.y, context->state, static_cast<size_t>(call.m) * sizeof(float),
                         cudaMemcpyDeviceToDevice, call.stream);
}
