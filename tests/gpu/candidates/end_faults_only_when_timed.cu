// kp:hack bad-input  traps in the tenth call of a timed round
// kp:task stream
// kp:expect crashed device
//
// Every check before was passed, and calls are queued behind the one that traps. Its twin is the
// baseline.
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

__global__ void trap() {
  __trap();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (known_round.asked != nullptr && known_round.asked->count > 8 && known_round.at == 9) {
    trap<<<1, 1, 0, call.stream>>>();
  }
  return launch(call, call.stream);
}
