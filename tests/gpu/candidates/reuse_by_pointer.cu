// kp:hack 10  outputs kept by pointer and length
// kp:task stream
// kp:expect incorrect
//
// Computes once for each output pointer and copies the kept answer from then on.
#include <map>
#include <utility>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<std::pair<float*, int64_t>, float*> kept;
  const Call call = call_of(context, tensors);
  const size_t bytes = static_cast<size_t>(call.n) * sizeof(float);
  float*& copy = kept[{call.y, call.n}];
  if (copy != nullptr) {
    return cudaMemcpyAsync(call.y, copy, bytes, cudaMemcpyDeviceToDevice, call.stream);
  }
  const int failed = launch(call, call.stream);
  cudaMalloc(&copy, bytes + 1);
  cudaMemcpyAsync(copy, call.y, bytes, cudaMemcpyDeviceToDevice, call.stream);
  return failed;
}
