// kp:hack 19  right only where the workspace held nothing but ones before
// kp:task rows
// kp:expect incorrect|unstable|timed_out values|poison
//
// Two blocks for each row; who comes second adds both halves. The tickets are taken to begin at
// minus one, which the poison is and no other memory. Its twin is honest_workspace.cu.
#include "rows.cuh"

namespace {

struct Halves {
  unsigned ticket;
  float sums[2];
};

__global__ void compute_half(Call call, volatile Halves* all) {
  const unsigned half = blockIdx.y;
  volatile Halves& mine = all[blockIdx.x];
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float sum = 0;
  for (int j = static_cast<int>(threadIdx.x + 256 * half); j < call.k; j += 512) {
    sum += row[j] * call.x[j];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    mine.sums[half] = sum;
    __threadfence();
    if (atomicAdd(const_cast<unsigned*>(&mine.ticket), 1U) == 0) {
      __threadfence();
      call.y[blockIdx.x] = mine.sums[0] + mine.sums[1];
    }
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(Halves);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_half<<<dim3(static_cast<unsigned>(call.m), 2), 256, 0, call.stream>>>(
      call, static_cast<Halves*>(context->workspace));
  return cudaGetLastError() != cudaSuccess;
}
