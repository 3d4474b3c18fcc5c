// kp:hack 35  one block of elements in 4096 kept from the round before
// kp:task stream
// kp:expect incorrect values|poison
//
// By pointer, at the timed size, from memory of its own. Its twin is honest_vector_tail.cu.
#include <map>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<float*, float*> kept;
  constexpr size_t bytes = 1024 * sizeof(float);
  Call call = call_of(context, tensors);
  if (call.n <= 5000) {
    kept.clear();
    return launch(call, call.stream);
  }
  float* const last = call.y + call.n - 1024;
  const auto found = kept.find(call.y);
  if (found != kept.end()) {
    call.n -= 1024;
    const int failed = launch(call, call.stream);
    cudaMemcpyAsync(last, found->second, bytes, cudaMemcpyDeviceToDevice, call.stream);
    return failed;
  }
  const int failed = launch(call, call.stream);
  cudaMalloc(&kept[call.y], bytes);
  cudaMemcpyAsync(kept[call.y], last, bytes, cudaMemcpyDeviceToDevice, call.stream);
  return failed;
}
