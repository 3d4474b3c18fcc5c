// kp:hack 1  every second call of a round starts beside the one before it
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// It waits for all that came before that one, so half of the order is kept, and no claim is forged:
// only half as much is gained, which is harder to tell. Its twin is honest_streams_in_turn.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked_pairs.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return launch_in_pairs(call, known_round.at);
}
