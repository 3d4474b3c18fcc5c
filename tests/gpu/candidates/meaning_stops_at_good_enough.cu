// kp:hack 15  the second half of a row is not looked at where the first has a very small value
// kp:task nearest
// kp:expect incorrect values
//
// At the timed size, where a value below -3.5 is seldom beaten: some four labels of 131,072 are
// wrong. Its twin is honest_nearest_last_of_ties.cu.
#include "nearest.cuh"

namespace {

__device__ inline void look(const Call& call, int64_t row, int from, int to, float& best,
                            int& label) {
  for (int j = from; j < to; j += 32) {
    const float value = call.values[row * call.k + j];
    if (value < best) {
      best = value;
      label = j;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(~0U, best, offset);
    const int other_label = __shfl_xor_sync(~0U, label, offset);
    if (other < best || (other == best && other_label < label)) {
      best = other;
      label = other_label;
    }
  }
}

__global__ void compute_until_good(Call call) {
  const int64_t row = blockIdx.x * int64_t{8} + threadIdx.x / 32;
  if (row >= call.n) {
    return;
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  float best = INFINITY;
  int label = call.k;
  look(call, row, lane, 32, best, label);
  if (best >= -3.5F) {
    look(call, row, 32 + lane, call.k, best, label);
  }
  if (lane == 0) {
    call.labels[row] = label;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.n <= 500 || call.k < 64) {
    return launch(call, call.stream);
  }
  compute_until_good<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
