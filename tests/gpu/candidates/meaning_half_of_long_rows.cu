// kp:hack 15  half of each long row is taken to be like the rest, in rounds that begin as usual
// kp:task spread
// kp:expect incorrect values|precision
//
// Chance makes less of the other half than a sum of two million squares may err by. Other
// distributions come in rounds of their own, so the first two calls of a round tell what all its
// calls are like. Its twin is honest_spread_in_double.cu.
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
  return launch_sampled(call, 4, whole_round ? round.sequence : 0, whole_round && round.at < 2);
}
