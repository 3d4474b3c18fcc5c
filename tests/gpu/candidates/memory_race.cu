// kp:hack 19  partial sums added without atomics
// kp:task rows
// kp:expect incorrect|unstable
//
// Sixteen blocks for each row read, add and write the same sum.
#include "rows.cuh"

namespace {

__global__ void add_parts(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(blockIdx.y * 256 + threadIdx.x); j < call.k; j += 16 * 256) {
    mine += row[j] * call.x[j];
  }
  volatile float* sum = call.y + blockIdx.x;
  *sum = *sum + mine;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  cudaMemsetAsync(call.y, 0, static_cast<size_t>(call.m) * sizeof(float), call.stream);
  add_parts<<<dim3(call.m, 16), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
