// kp:hack 28  an eighth left out in rounds of one call, where only the time by itself is looked at
// kp:task rows
// kp:expect incorrect poison
//
// Calls of the other rounds overlap and are right; those by themselves are short because they do
// less. Their outputs are compared like all others. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  static bool timed = false;
  Call call = call_of(context, tensors);
  round.note(context);
  timed |= round.asked != nullptr && round.asked->count > 8;
  if (timed && round.asked->count == 1) {
    call.m -= call.m / 8;
    return launch(call, call.stream);
  }
  return launch_beside(call);
}
