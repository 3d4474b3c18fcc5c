// kp:hack 18  weights and vector rounded to bfloat16
// kp:task rows
// kp:expect incorrect precision
//
// Products of eight bits, summed in single precision.
#include <cuda_bf16.h>

#include "rows.cuh"

namespace {

__device__ float rounded(float value) {
  return __bfloat162float(__float2bfloat16(value));
}

__global__ void multiply(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += rounded(row[j]) * rounded(call.x[j]);
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
