// kp:hack 1  calls overlap where rows are short, and a call by itself is queued before the clock
// kp:task nearest
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// As timing_single_ahead_without_gate.cu, where outputs are labels and a wait inside a call costs
// twice of what a call takes. Its twin is
// honest_nearest_wide_keys.cu.
#include "driver.cuh"
#include "nearest.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "unforked.cuh"

namespace {

inline const float* last_word(const Call& call) {
  return call.values + call.n * call.k - 1;
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
