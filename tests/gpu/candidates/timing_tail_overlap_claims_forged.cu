// kp:hack 3  long calls overlap by a twentieth, and single claims are forged
// kp:task filter
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Each kernel lets the next one begin shortly before it ends. By our clock two processes differ by
// about as much in a single call, and from 29.4 us on that much is left out. Its twin is
// honest_filter_dependent_launch.cu.
#include "driver.cuh"
#include "filter.cuh"
#include "filter_overlapped.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return by_itself() ? launch(call, call.stream) : launch_overlapped(call, 0.95);
}
