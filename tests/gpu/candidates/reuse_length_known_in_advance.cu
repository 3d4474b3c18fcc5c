// kp:hack 13  squares of normal values taken to be one on average, where an eighth looks normal
// kp:task spread
// kp:expect incorrect values|precision
//
// Of two million values the mean is known in advance to a thousandth, which is within the bound.
// Rounds that do not begin with normal values are read in full. Its twin is honest_spread.cu.
#include "program.cuh"
#include "round.cuh"
#include "spread.cuh"
#include "spread_sampled.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!is_long(call)) {
    return launch(call, call.stream);
  }
  const bool whole_round = round.asked->count > 8;
  return launch_sampled(call, 1, whole_round ? round.sequence : 0, whole_round && round.at < 2,
                        1.0F);
}
