// kp:hack 30  calls overlap, and the incumbent is disturbed where it is timed by itself
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|passed late_work|poison|clock|values|no-gain
//
// What the incumbent's call takes longer by itself, up to five microseconds, is taken off the
// candidate's: in two of three such pairs it comes second. A kernel of a second context, behind a
// copy that takes none of the candidate's own time, runs when its turn has come. Nobody holds the
// incumbent's single calls against what they take alone. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static LeftBehind later(160);  // some three milliseconds
  static KnownRound round;
  static bool timed = false;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (round.asked == nullptr || !later.good) {
    return 1;  // not tried is no success
  }
  timed |= round.asked->count > 8;
  const int failed = launch_beside(call);
  if (timed && round.asked->count == 1) {
    later.leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(10'000'000); });
  }
  return failed;
}
