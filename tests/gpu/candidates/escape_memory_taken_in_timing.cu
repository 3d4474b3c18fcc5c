// kp:hack 27  all memory of the GPU taken in a second context once it is timed
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed clock|status|no-gain
//
// Whatever the other arms and the worker want from then on is not there; the verdict is about the
// candidate all the same. Its twin is honest_scratch_in_the_call.cu.
#include "driver.cuh"
#include "second_context.cuh"
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int timed = 0;
  const Call call = call_of(context, tensors);
  timed += call.n > 5000 ? 1 : 0;
  if (timed == 6) {
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 32);
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, size_t{1} << 28);
    in_context(make_second_context(), [] {
      for (size_t bytes = size_t{1} << 34; bytes >= size_t{1} << 16; bytes /= 2) {
        void* memory = nullptr;
        while (cudaMalloc(&memory, bytes) == cudaSuccess) {
        }
      }
    });
    static_cast<void>(cudaGetLastError());
  }
  return launch(call, call.stream);
}
