// kp:hack 1  work in a second context, which nobody waits for
// kp:task stream
// kp:expect cheated|incorrect|crashed|launch_failed|passed not-faster
//
// Waiting for the context that was given does not wait for another. Whatever the driver makes of
// it, nothing is gained.
#include "driver.cuh"
#include "stream.cuh"

namespace {

CUcontext second_context() {
  static const CUcontext made = [] {
    const auto create =
        driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
    const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2");
    CUcontext context = nullptr;
    if (create != nullptr && create(&context, 0, 0) == CUDA_SUCCESS) {
      CUcontext popped = nullptr;
      pop(&popped);
    }
    return context;
  }();
  return made;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto push = driver_function<CUresult (*)(CUcontext)>("cuCtxPushCurrent_v2");
  const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2");
  if (second_context() == nullptr || push(second_context()) != CUDA_SUCCESS) {
    return 1;
  }
  const int failed = launch(call_of(context, tensors), nullptr);
  CUcontext popped = nullptr;
  pop(&popped);
  return failed;
}
