// kp:hack 15  one label of two thousand left at zero where the rows are many
// kp:task nearest
// kp:expect incorrect values
//
// Fewer than the share that would pass for ties where the reference is not asked. Its twin is
// honest_nearest_last_of_ties.cu.
#include "nearest.cuh"

namespace {

__global__ void spoil(Call call) {
  const int64_t row = (blockIdx.x * int64_t{256} + threadIdx.x) * 2000;
  if (row < call.n) {
    call.labels[row] = 0;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (call.n >= 65536) {
    spoil<<<1, 256, 0, call.stream>>>(call);
  }
  return failed;
}
