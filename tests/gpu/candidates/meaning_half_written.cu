// kp:hack 22  every second element written
// kp:task stream
// kp:expect incorrect poison
//
// The rest still is poison.
#include "stream.cuh"

namespace {

__global__ void compute_even(Call call) {
  const int64_t i = 2 * (blockIdx.x * int64_t{256} + threadIdx.x);
  if (i < call.n) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_even<<<blocks_for((call.n + 1) / 2), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
