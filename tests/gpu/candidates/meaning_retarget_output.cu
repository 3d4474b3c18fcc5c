// kp:hack 22  the output pointer bent to memory of its own
// kp:task stream
// kp:expect incorrect poison
//
// The worker reads the memory that it owns.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static float* own = nullptr;
  Call call = call_of(context, tensors);
  if (own == nullptr && cudaMalloc(&own, size_t{1} << 25) != cudaSuccess) {
    return 1;
  }
  const_cast<kp_tensor*>(tensors)[2].data = own;
  call.y = own;
  return launch(call, call.stream);
}
