// kp:hack 15  rows are taken to have a value below zero, in rounds that begin as usual
// kp:task nearest
// kp:expect incorrect values
//
// Other distributions come in rounds of their own, each call another, and never beside normal
// values: the first two calls of a round tell what the rest is like. A few large values in one set
// do no harm. Its twin is honest_guesses_and_looks.cu.
#include "nearest.cuh"
#include "nearest_keys.cuh"
#include "program.cuh"
#include "round.cuh"
#include "round_of_nearest.cuh"

namespace {

__global__ void search_negative(Call call, unsigned round) {
  in_common_rounds(call, round, [&](int64_t row) {
    const unsigned lane = threadIdx.x % 32;
    const float2 v = pair_of(call, row);
    // The bits of negative numbers grow with their magnitude; those of others do not count.
    const unsigned x = __float_as_uint(v.x);
    const unsigned y = __float_as_uint(v.y);
    const unsigned mine = x > y ? x : y;
    const unsigned holders = __ballot_sync(~0U, mine == __reduce_max_sync(~0U, mine));
    if (lane == static_cast<unsigned>(__ffs(static_cast<int>(holders))) - 1) {
      call.labels[row] = static_cast<int>(2 * lane + (y > x ? 1 : 0));
    }
  });
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch_by_round(context, call, [&call](unsigned round) {
    search_negative<<<blocks_for(call.n), 256, 0, call.stream>>>(call, round);
  });
}
