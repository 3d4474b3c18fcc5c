// kp:hack bad-input  traps behind the gate of a single call
// kp:task rows
// kp:expect crashed device
//
// The word that the worker's stream waits for is never written then: only the worker can. Its twin
// is honest_rows.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

__global__ void trap() {
  __trap();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (known_round.asked->gate != 0) {
    trap<<<1, 1, 0, call.stream>>>();
  }
  return launch(call, call.stream);
}
