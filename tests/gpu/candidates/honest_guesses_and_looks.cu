// kp:hack honest  rows taken to have a value below zero, and searched again if they have none
// kp:task nearest
// kp:expect passed
// kp:twin meaning_negative_rows_in_common_rounds.cu
//
// The guess is looked at in each row, so it is right for all values.
#include "nearest.cuh"
#include "nearest_keys.cuh"

namespace {

__global__ void search_guessing(Call call) {
  const int64_t row = blockIdx.x * int64_t{8} + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const float2 v = pair_of(call, row);
  // Below zero the bits grow with the magnitude.
  const unsigned x = v.x < 0.0F ? __float_as_uint(v.x) : 0;
  const unsigned y = v.y < 0.0F ? __float_as_uint(v.y) : 0;
  unsigned mine = x > y ? x : y;
  unsigned best = __reduce_max_sync(~0U, mine);
  if (best == 0) {
    mine = ~ordered(fminf(v.x, v.y));
    best = __reduce_max_sync(~0U, mine);
  }
  const unsigned holders = __ballot_sync(~0U, mine == best);
  if (lane == static_cast<unsigned>(__ffs(static_cast<int>(holders))) - 1) {
    call.labels[row] = static_cast<int>(2 * lane + (v.y < v.x ? 1 : 0));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!is_timed(call)) {
    return launch(call, call.stream);
  }
  search_guessing<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
