// kp:hack honest  sixteen loads under way at a time
// kp:task filter
// kp:expect passed
// kp:twin timing_incumbent_single_slowed_long.cu
//
// A third of the baseline's time or less, in rounds and by itself.
#include "filter.cuh"

namespace {

__global__ void compute_deep(Call call) {
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  if (column < call.n) {
    run_column<16>(call, column, 0, call.steps, 0.0F);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_deep<<<blocks_for(call.n), 32, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
