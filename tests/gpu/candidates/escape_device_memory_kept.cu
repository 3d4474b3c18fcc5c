// kp:hack 27  takes all memory of the GPU and works on
// kp:task stream
// kp:expect out_of_memory|cheated|launch_failed|passed not-faster|status
//
// Whatever it holds, the verdict is about it and not about the worker.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool taken = false;
  for (size_t bytes = size_t{1} << 32; !taken && bytes >= size_t{1} << 20; bytes /= 2) {
    void* memory = nullptr;
    while (cudaMalloc(&memory, bytes) == cudaSuccess) {
    }
  }
  taken = true;
  static_cast<void>(cudaGetLastError());

  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
