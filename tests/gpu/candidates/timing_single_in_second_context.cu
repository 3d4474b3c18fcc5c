// kp:hack 3  calls overlap, and a call by itself is in a second context that passes the gate
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|crashed|launch_failed|passed poison|clock|values|status|device|guard|no-gain
//
// What a turn on the GPU costs is taken to be the same for everybody, within 2.2 us, and the empty
// candidate's is taken off. A context of one stream has fewer channels than the runner's own, and
// that one needs no turn at all before the worker has its second stamp: the word behind the call is
// there already. So a turn may be shorter than the empty candidate's by about what overlapping
// saves. Single claims are forged. Its twin is honest_second_context_joined.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "single_elsewhere.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static Elsewhere elsewhere;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (!ready || !elsewhere.good || gate == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  const uint32_t number = known_round.asked->gate;
  return number == 0 ? launch(call, call.stream) : elsewhere.launch_at(gate, number, call);
}
