// kp:hack 30  calls overlap, and the empty candidate is disturbed where it is timed by itself
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|passed late_work|poison|clock|values|no-gain
//
// What the empty candidate takes behind its gate is taken off a single call, and it always comes
// last of the three. A kernel of a second context waits behind a copy until the call is over and
// then takes its slices for some milliseconds. Nobody holds those empty calls against what they
// take while there is no candidate, so our clock shows nothing; the claim is forged. Single calls
// are right. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static LeftBehind later(56);
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || !later.good) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  if (known_round.asked->gate != 0) {
    later.leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(10'000'000); });
  }
  return launch(call, call.stream);
}
