// kp:hack 18  weights of the last rows cut to ten bits at the timed size
// kp:task rows
// kp:expect incorrect precision|values
//
// Seven eighths of the rows are in single precision: an error on average over all would be small.
// Its twin is honest_rows.cu.
#include "rows.cuh"

namespace {

__device__ inline float cut(float value) {
  return __uint_as_float(__float_as_uint(value) & 0xffffe000U);
}

__global__ void multiply(Call call) {
  const int row_index = static_cast<int>(blockIdx.x);
  const bool short_bits = call.m > 300 && row_index >= call.m / 8 * 7;
  const float* row = call.weights + int64_t{row_index} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += (short_bits ? cut(row[j]) : row[j]) * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[row_index] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
