// kp:hack honest  all of each row read, four values at a time
// kp:task spread
// kp:expect passed
// kp:twin meaning_three_quarters_of_long_rows.cu
//
// Partial sums in the workspace, in single precision.
#include "spread.cuh"

namespace {

__global__ void add_vectors(Call call) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  float mine = 0;
#pragma unroll 4
  for (int64_t j = edge(call, part) + 4 * threadIdx.x; j < edge(call, part + 1); j += 1024) {
    const float4 v = *reinterpret_cast<const float4*>(row + j);
    mine += v.x * v.x + v.y * v.y + (v.z * v.z + v.w * v.w);
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.k % 4096 != 0) {
    return launch(call, call.stream);
  }
  add_vectors<<<dim3(parts, call.m), 256, 0, call.stream>>>(call);
  finish<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
