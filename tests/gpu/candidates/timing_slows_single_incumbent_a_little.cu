// kp:hack 30  calls overlap, and the incumbent's single calls are disturbed by a few microseconds
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|passed late_work|poison|clock|values|no-gain
//
// What rounds save is believed as far as single calls are shorter than the incumbent's by as much.
// So the candidate leaves a short kernel in a second context for the incumbent's turn, and forges
// its own single claims. Its twin is honest_rows.cu.
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
  cudaFree(nullptr);
  static LeftBehind later(160);  // some three milliseconds
  static const bool ready = forge_singles();
  static bool timed = false;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr || !later.good) {
    return 1;  // not tried is no success
  }
  timed |= known_round.asked->count > 8;
  if (!by_itself()) {
    return launch_beside(call);
  }
  const int failed = launch(call, call.stream);
  if (timed) {
    later.leave([](cudaStream_t stream) { spin<<<1, 32, 0, stream>>>(2000); });
  }
  return failed;
}
