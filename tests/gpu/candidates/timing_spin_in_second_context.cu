// kp:hack 30  a kernel that never ends in a second context
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|crashed not-faster|suspect
//
// Nobody waits for that context, and stopping the process does not stop its kernel: it takes its
// slices of everybody's time.
#include "driver.cuh"
#include "stream.cuh"

namespace {

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

bool start_spinning() {
  const auto create =
      driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2");
  CUcontext second = nullptr;
  if (create(&second, 0, 0) != CUDA_SUCCESS) {
    return false;
  }
  spin<<<132, 1024>>>(1LL << 60);
  const bool started = cudaGetLastError() == cudaSuccess;
  CUcontext popped = nullptr;
  pop(&popped);
  return started;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool spinning = start_spinning();
  const Call call = call_of(context, tensors);
  return spinning ? launch(call, call.stream) : 1;
}
