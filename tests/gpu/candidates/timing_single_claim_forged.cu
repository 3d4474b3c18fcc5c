// kp:hack 3  calls that overlap, and the claim of one by itself as if it were one of them
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Claims of rounds are true. Only our clock can tell how long a call by itself took. Its twin is
// honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready) {
    return 1;  // not tried is no success
  }
  return by_itself() ? launch(call, call.stream) : launch_beside(call);
}
