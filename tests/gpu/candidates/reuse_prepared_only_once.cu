// kp:hack 11  kp_prepare works for each state once and never again
// kp:task rows
// kp:expect incorrect values|poison
//
// Constants stay the same, says the name; here they change from round to round in the same memory,
// and kp_prepare is called again for that. Its twin is honest_prepare_packed.cu.
#include <set>
#include <tuple>

#include "rows.cuh"

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::set<std::tuple<void*, int, int>> known;
  const Call call = call_of(context, tensors);
  if (!known.insert({context->state, call.m, call.k}).second) {
    return 0;
  }
  return cudaMemcpyAsync(context->state, call.weights, context->state_bytes,
                         cudaMemcpyDeviceToDevice, call.stream);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Call call = call_of(context, tensors);
  call.weights = static_cast<const float*>(context->state);
  return launch(call, call.stream);
}
