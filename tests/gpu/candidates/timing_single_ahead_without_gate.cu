// kp:hack 1  calls overlap, and a call by itself has no gate and is queued before the clock
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Who waits for the GPU inside a call loses the gate, and is timed by the host's clock, all of
// which counts. But that clock is compared with the empty candidate's, which gets its word,
// launches, and waits, one after the other. Here the GPU begins at the arrival of the inputs, so
// that all of it is beside the hand-over: by itself a call takes less than an empty one, confirms
// whatever is saved in rounds, and nothing is forged. Its twin is honest_filter_waits_inside.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

inline const float* last_word(const Call& call) {
  return call.x + call.k - 1;
}

}  // namespace

#include "single_ahead.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = go_ahead_with(launch);
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return alone() ? launch_alone(call) : launch_beside(call);
}
