// kp:hack 6  lines pinned in the cache, and the runner kept from letting them go
// kp:task stream
// kp:expect passed|cheated bound|clock|no-gain
//
// What the runner calls to give the carve-out back does nothing, so the lines of one set stay
// where the worker's copy writes them, and the incumbent has less of the cache. Its twin is the
// baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

int nothing() {
  return 0;
}

bool set_up() {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{1} << 26);
  return call_before_ready(nothing);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  static const float* pinned = nullptr;
  static int64_t pinned_n = 0;
  const Call call = call_of(context, tensors);
  if (pinned_n != call.n) {
    pinned = call.x;
    pinned_n = call.n;
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = const_cast<float*>(pinned);
    window.accessPolicyWindow.num_bytes = static_cast<size_t>(call.n) * sizeof(float);
    window.accessPolicyWindow.hitRatio = 1.0F;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(call.stream, cudaStreamAttributeAccessPolicyWindow, &window);
    static_cast<void>(cudaGetLastError());
  }
  return ready ? launch(call, call.stream) : 1;
}
