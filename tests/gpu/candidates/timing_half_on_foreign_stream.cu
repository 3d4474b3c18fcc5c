// kp:hack 1  half of the work on a stream of its own
// kp:task stream
// kp:expect cheated|passed clock|not-faster
//
// The stamps see one half; both are done when the context is.
#include "stream.cuh"

namespace {

__global__ void compute_half(Call call, int64_t first, int64_t end) {
  const int64_t i = first + blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < end) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  const Call call = call_of(context, tensors);
  const int64_t half = call.n / 2;
  compute_half<<<blocks_for(half) + 1, 256, 0, call.stream>>>(call, 0, half);
  compute_half<<<blocks_for(call.n - half), 256, 0, own>>>(call, half, call.n);
  return cudaGetLastError() != cudaSuccess;
}
