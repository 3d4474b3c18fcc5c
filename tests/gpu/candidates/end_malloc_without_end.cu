// kp:hack bad-input  memory of the GPU taken until there is none
// kp:task stream
// kp:expect launch_failed|out_of_memory status
//
// It returns what the runtime said; its end gives the memory back.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  void* memory = nullptr;
  cudaError_t code = cudaSuccess;
  while (code == cudaSuccess) {
    code = cudaMalloc(&memory, size_t{1} << 30);
  }
  return code + (tensors == nullptr || context == nullptr ? 1 : 0);
}
