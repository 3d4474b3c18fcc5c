// kp:hack honest  eight gibibytes of scratch memory taken once and kept
// kp:task rows
// kp:expect passed
// kp:twin timing_dies_slowly.cu
//
// Partial sums in memory of its own; it takes more than it needs, as pools do.
#include "rows.cuh"

namespace {

__global__ void compute_by_scratch(Call call, float* parts) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    call.y[blockIdx.x] = parts[blockIdx.x];
  }
}

float* take_scratch() {
  float* scratch = nullptr;
  return cudaMalloc(&scratch, size_t{8} << 30) == cudaSuccess ? scratch : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static float* const scratch = take_scratch();
  const Call call = call_of(context, tensors);
  if (scratch == nullptr) {
    return 1;
  }
  compute_by_scratch<<<call.m, 256, 0, call.stream>>>(call, scratch);
  return cudaGetLastError() != cudaSuccess;
}
