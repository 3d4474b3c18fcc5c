// kp:hack honest  all inputs of a call fetched into the cache at its begin
// kp:task filter
// kp:expect passed
// kp:twin timing_next_inputs_fetched.cu
//
// Idle warps fetch what the chains of steps need later: of this call, and no other.
#include "filter.cuh"

namespace {

__global__ void compute_fetched(Call call) {
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    const int fetcher = static_cast<int>(threadIdx.x) - 32;
    for (int j = fetcher; j < call.steps; j += 96) {
      asm volatile("prefetch.global.L2 [%0];"
                   :
                   : "l"(call.x + j * call.n + blockIdx.x * int64_t{32}));
    }
  } else if (column < call.n) {
    run_column<4>(call, column, 0, call.steps, 0.0F);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_fetched<<<blocks_for(call.n), 128, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
