// kp:hack 30  turns of three seconds on the GPU that begin when the candidate has replied
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|crashed clock|status|no-gain
//
// As timing_long_turns.cu, behind a copy that delays it: its own rounds are over in time, and it is
// the incumbent or the empty candidate that misses its two seconds. That would be the judge's own
// failure and no verdict. It ends by itself after twenty seconds. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "stream.cuh"
#include "timeslice.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static const bool watched = watch_groups();
  static LeftBehind later(600);  // some twelve milliseconds
  static const bool taken = later.good && set_turns(3'000'000);
  static KnownRound round;
  if (!watched || !taken) {
    return 1;  // not tried is no success
  }
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (round.known() && round.asked->count > 8 && round.at + 1 == round.asked->count) {
    later.leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(20'000'000'000); });
  }
  return failed;
}
