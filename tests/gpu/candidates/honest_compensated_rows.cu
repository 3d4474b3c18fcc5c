// kp:hack honest  sums that carry what rounding takes from them, from the last column to the first
// kp:task rows
// kp:expect passed
// kp:twin precision_half_partial_sums.cu
//
// Nearer to the truth than the baseline, in an order of its own.
#include "rows.cuh"

namespace {

__global__ void multiply_compensated(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float sum = 0;
  float lost = 0;
  for (int j = call.k - 1 - static_cast<int>(threadIdx.x); j >= 0; j -= 256) {
    const float product = __fmul_rn(row[j], call.x[j]);
    const float rest = fmaf(row[j], call.x[j], -product);
    const float next = __fadd_rn(sum, product);
    const float taken = __fsub_rn(next, sum);
    const float error =
        __fadd_rn(__fsub_rn(sum, __fsub_rn(next, taken)), __fsub_rn(product, taken));
    lost += error + rest;
    sum = next;
  }
  const float all = block_sum(sum + lost);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = all;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply_compensated<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
