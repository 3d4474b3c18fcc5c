// kp:hack 14  one constant everywhere
// kp:task stream
// kp:expect incorrect
//
// The mean of the outputs, which is near zero.
#include "stream.cuh"

namespace {

__global__ void fill(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = 0.01F;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  fill<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
