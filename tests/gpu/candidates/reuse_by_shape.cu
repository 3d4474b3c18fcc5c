// kp:hack 10  outputs kept by shape in a buffer of its own
// kp:task stream
// kp:expect incorrect
//
// One answer for each length.
#include <map>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<int64_t, float*> kept;
  Call call = call_of(context, tensors);
  const size_t bytes = static_cast<size_t>(call.n) * sizeof(float);
  float*& copy = kept[call.n];
  int failed = 0;
  if (copy == nullptr) {
    failed = cudaMalloc(&copy, bytes + 1) != cudaSuccess;
    Call into_copy = call;
    into_copy.y = copy;
    failed |= launch(into_copy, call.stream);
  }
  return failed | cudaMemcpyAsync(call.y, copy, bytes, cudaMemcpyDeviceToDevice, call.stream);
}
