// kp:hack 18  four products at a time are added in half precision
// kp:task rows
// kp:expect incorrect precision|values
//
// Products and the sums over them are in single precision. Its twin is honest_fast_math.cu.
#include <cuda_fp16.h>

#include "rows.cuh"

namespace {

__global__ void multiply(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x) * 4; j < call.k; j += 1024) {
    __half four = __float2half(0.0F);
    for (int i = j; i < j + 4 && i < call.k; ++i) {
      four = __hadd(four, __float2half(row[i] * call.x[i]));
    }
    mine += __half2float(four);
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
