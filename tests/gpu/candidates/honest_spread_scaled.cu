// kp:hack honest  each part is scaled by its largest value, as BLAS does, and read twice for it
// kp:task spread
// kp:expect passed
// kp:twin meaning_rows_share_one_length.cu
//
// Safe where squares would overflow. A part without a value but zero has no scale.
#include "spread.cuh"

namespace {

__device__ inline float block_max(float mine) {
  __shared__ float warps[8];
  for (int offset = 16; offset > 0; offset /= 2) {
    mine = fmaxf(mine, __shfl_down_sync(~0U, mine, offset));
  }
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = mine;
  }
  __syncthreads();
  float largest = 0;
  for (int i = 0; i < 8; ++i) {
    largest = fmaxf(largest, warps[i]);
  }
  return largest;
}

__global__ void add_scaled(Call call) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  float mine = 0;
  for (int64_t j = edge(call, part) + threadIdx.x; j < edge(call, part + 1); j += 256) {
    mine = fmaxf(mine, fabsf(row[j]));
  }
  const float scale = block_max(mine);
  float sum = 0;
  for (int64_t j = edge(call, part) + threadIdx.x; scale > 0 && j < edge(call, part + 1);
       j += 256) {
    const float share = row[j] / scale;
    sum += share * share;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = scale * scale * sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  add_scaled<<<dim3(parts, call.m), 256, 0, call.stream>>>(call);
  finish<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
