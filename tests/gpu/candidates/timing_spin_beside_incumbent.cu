// kp:hack 30  a thread launches long kernels all the time
// kp:task stream
// kp:expect cheated|passed|timed_out|incorrect not-faster|suspect
//
// Kernels launched just before the runner is stopped still run while the incumbent is timed. They
// are on this one's own clock as well.
#include <thread>

#include "stream.cuh"

namespace {

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

void keep_busy() {
  cudaStream_t own = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  for (;;) {
    spin<<<132, 1024, 0, own>>>(20'000'000);
    cudaStreamSynchronize(own);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static std::thread* const busy = new std::thread(keep_busy);
  const Call call = call_of(context, tensors);
  return busy == nullptr ? 1 : launch(call, call.stream);
}
