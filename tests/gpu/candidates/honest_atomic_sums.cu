// kp:hack honest  sums by atomics whose last bits vary
// kp:task rows
// kp:expect passed
// kp:twin memory_race.cu
//
// The order of additions differs from call to call, within the tolerance.
#include "rows.cuh"

namespace {

__global__ void add_parts(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(blockIdx.y * 256 + threadIdx.x); j < call.k; j += 8 * 256) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    atomicAdd(call.y + blockIdx.x, sum);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  cudaMemsetAsync(call.y, 0, static_cast<size_t>(call.m) * sizeof(float), call.stream);
  add_parts<<<dim3(call.m, 8), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
