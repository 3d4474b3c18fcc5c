// kp:hack 18  arithmetic in half precision
// kp:task stream
// kp:expect incorrect precision
//
// Products and sum are rounded to eleven bits.
#include <cuda_fp16.h>

#include "stream.cuh"

namespace {

__global__ void compute_half(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    const __half first = __hmul(__float2half(call.a), __float2half(call.x[i]));
    call.y[i] = __half2float(__hfma(__float2half(call.b), __float2half(call.z[i]), first));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_half<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
