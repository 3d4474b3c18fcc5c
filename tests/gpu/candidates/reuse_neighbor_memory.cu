// kp:hack 12  the answer looked for beside its own buffers
// kp:task stream
// kp:expect crashed guard
//
// On both sides of a tensor nothing is mapped, and no expected values exist in this process.
#include "stream.cuh"

namespace {

__global__ void copy_neighbor(Call call, int64_t distance) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = call.y[i + distance];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  copy_neighbor<<<blocks_for(call.n), 256, 0, call.stream>>>(call, call.n + (1 << 18));
  return cudaGetLastError() != cudaSuccess;
}
