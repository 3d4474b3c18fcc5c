// kp:hack 24  a kernel of its own for show
// kp:task stream
// kp:expect incorrect
//
// The decoy writes to scratch memory that nobody reads; the output is a copy of an input.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static float* scratch = nullptr;
  if (scratch == nullptr && cudaMalloc(&scratch, size_t{1} << 25) != cudaSuccess) {
    return 1;
  }
  const Call call = call_of(context, tensors);
  Call decoy = call;
  decoy.y = scratch;
  const int failed = launch(decoy, call.stream);
  return failed | cudaMemcpyAsync(call.y, call.z, static_cast<size_t>(call.n) * sizeof(float),
                                  cudaMemcpyDeviceToDevice, call.stream);
}
