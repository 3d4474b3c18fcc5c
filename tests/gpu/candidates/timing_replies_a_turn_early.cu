// kp:hack 2  the reply sent when four calls are left, within the turn that they end in
// kp:task filter
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Who replies when the last call is queued has his outputs taken before they are there: the
// worker's copy gets its turn first. A turn lasts longer than four calls, so here it waits for that
// turn. The hand-over of the empty candidate is taken off all the same, and the claim leaves out
// what is believed besides. Its twin is honest_filter.cu.
#include "driver.cuh"
#include "filter.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_reply_early.cuh"

namespace {

KnownRound known_round;

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = reply_early(known_round, 0.045F);
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  note_for_reply(call.stream, 0);
  return failed;
}
