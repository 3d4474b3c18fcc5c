// kp:hack 18  squares of long rows are added in half precision, sixty-four at a time
// kp:task spread
// kp:expect incorrect|passed precision|values|no-gain
//
// Eleven bits for each of 32768 partial sums: what is lost is far from single precision, and less
// than eight roundings times the root of two million. Its twin is honest_spread_in_double.cu.
#include <cuda_fp16.h>

#include "spread.cuh"

namespace {

__global__ void add_half_squares(Call call) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  __half2 mine = __float2half2_rn(0.0F);
  bool fits = true;
  for (int64_t j = edge(call, part) + 2 * threadIdx.x; j < edge(call, part + 1); j += 512) {
    const float2 v = *reinterpret_cast<const float2*>(row + j);
    const __half2 h = __floats2half2_rn(v.x, v.y);
    fits = fits && fmaxf(fabsf(v.x), fabsf(v.y)) < 8.0F;
    mine = __hfma2(h, h, mine);
  }
  float sum = __low2float(mine) + __high2float(mine);
  // Too small or too large for eleven bits and five of an exponent: in full.
  if (__syncthreads_and(fits && sum > 1.0F) == 0) {
    sum = 0;
    for (int64_t j = edge(call, part) + threadIdx.x; j < edge(call, part + 1); j += 256) {
      sum += row[j] * row[j];
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.k < int64_t{1} << 20 || call.k % 512 != 0) {
    return launch(call, call.stream);
  }
  add_half_squares<<<dim3(parts, call.m), 256, 0, call.stream>>>(call);
  finish<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
