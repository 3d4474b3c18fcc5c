// kp:hack honest  partial sums in the workspace
// kp:task rows
// kp:expect passed
// kp:twin memory_uninitialized_workspace.cu
//
// Written before they are read, by two kernels on the given stream.
#include "rows.cuh"

namespace {

constexpr int parts = 4;

__global__ void sum_parts(Call call, float* sums) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(blockIdx.y * 256 + threadIdx.x); j < call.k; j += parts * 256) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    sums[blockIdx.x * parts + blockIdx.y] = sum;
  }
}

__global__ void add_parts(Call call, const float* sums) {
  const int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (row < call.m) {
    call.y[row] = (sums[row * parts] + sums[row * parts + 1]) +
                  (sums[row * parts + 2] + sums[row * parts + 3]);
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * parts * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  auto* sums = static_cast<float*>(context->workspace);
  sum_parts<<<dim3(call.m, parts), 256, 0, call.stream>>>(call, sums);
  add_parts<<<(call.m + 255) / 256, 256, 0, call.stream>>>(call, sums);
  return cudaGetLastError() != cudaSuccess;
}
