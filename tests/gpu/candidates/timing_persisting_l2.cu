// kp:hack 6  inputs pinned in the second-level cache
// kp:task stream
// kp:expect passed|cheated bound|clock|not-faster
//
// Asks for the whole carve-out and a window over the first input. The runner takes it back before
// each round, and there are more sets than fit.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool limited =
      cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{1} << 26) == cudaSuccess;
  const Call call = call_of(context, tensors);
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(call.x);
  window.accessPolicyWindow.num_bytes = static_cast<size_t>(call.n) * sizeof(float);
  window.accessPolicyWindow.hitRatio = 1.0F;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  if (limited) {
    cudaStreamSetAttribute(call.stream, cudaStreamAttributeAccessPolicyWindow, &window);
  }
  static_cast<void>(cudaGetLastError());
  return launch(call, call.stream);
}
