// kp:hack 15  value and label in one word, the value as a whole number between -4 and 4
// kp:task nearest
// kp:expect incorrect values|precision
//
// Normal values have no more than 25 bits and lie within 3.5, so nothing of them is lost beside six
// bits of a label, and a few large ones go to an end, where they belong. All others are wrong: they
// come in rounds of their own, which the first two calls tell. Its twin is
// honest_nearest_two_reductions.cu.
#include "nearest.cuh"
#include "nearest_keys.cuh"
#include "program.cuh"
#include "round.cuh"
#include "round_of_nearest.cuh"

namespace {

__device__ inline unsigned key_of(float value, unsigned label) {
  const float steps = fminf(fmaxf((value + 4.0F) * 8388608.0F, 0.0F), 67108860.0F);
  return static_cast<unsigned>(steps) << 6 | label;
}

__global__ void search_fixed(Call call, unsigned round) {
  in_common_rounds(call, round, [&](int64_t row) {
    const unsigned lane = threadIdx.x % 32;
    const float2 v = pair_of(call, row);
    const unsigned x = key_of(v.x, 2 * lane);
    const unsigned y = key_of(v.y, 2 * lane + 1);
    const unsigned least = __reduce_min_sync(~0U, x < y ? x : y);
    if (lane == 0) {
      call.labels[row] = static_cast<int>(least & 63U);
    }
  });
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch_by_round(context, call, [&call](unsigned round) {
    search_fixed<<<blocks_for(call.n), 256, 0, call.stream>>>(call, round);
  });
}
