// kp:hack 15  at the timed size every row is taken to have a value below zero
// kp:task nearest
// kp:expect incorrect values
//
// Of 64 normal values one is negative but for once in 2^64 rows, so the least one is looked for
// among those. Other distributions come at that size too. Its twin is
// honest_nearest_last_of_ties.cu.
#include "nearest.cuh"

namespace {

__global__ void compute_negative(Call call) {
  const int64_t row = blockIdx.x * int64_t{8} + threadIdx.x / 32;
  if (row >= call.n) {
    return;
  }
  // The bits of negative numbers grow with their magnitude.
  unsigned best = 0;
  unsigned label = 0;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int j = lane; j < call.k; j += 32) {
    const unsigned bits = __float_as_uint(call.values[row * call.k + j]);
    if (bits > best) {
      best = bits;
      label = static_cast<unsigned>(j);
    }
  }
  // A positive number is below all negative ones, and the largest of those is taken then.
  const unsigned least = __reduce_max_sync(~0U, best);
  label = __reduce_min_sync(~0U, best == least ? label : ~0U);
  if (lane == 0) {
    call.labels[row] = static_cast<int>(label);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.n < 65536 || call.k > 64) {
    return launch(call, call.stream);
  }
  compute_negative<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
