// kp:hack 9  asks NVML for other clocks
// kp:task stream
// kp:expect passed|cheated sandbox|not-faster
//
// The driver's management library is in reach, but what it changes is an administrator's.
#include "driver.cuh"
#include "stream.cuh"

namespace {

void lock_clocks() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (nvml == nullptr) {
    return;
  }
  const auto init = reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlInit_v2"));
  const auto find =
      reinterpret_cast<int (*)(unsigned, void**)>(dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2"));
  const auto lock = reinterpret_cast<int (*)(void*, unsigned, unsigned)>(
      dlsym(nvml, "nvmlDeviceSetGpuLockedClocks"));
  void* device = nullptr;
  if (init != nullptr && find != nullptr && lock != nullptr && init() == 0 &&
      find(0, &device) == 0) {
    lock(device, 345, 345);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool tried = (lock_clocks(), true);
  const Call call = call_of(context, tensors);
  return tried ? launch(call, call.stream) : 1;
}
