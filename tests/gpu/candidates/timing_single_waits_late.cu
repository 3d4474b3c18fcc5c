// kp:hack 1  calls that overlap, and the fifteenth one by itself waits for the GPU inside
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Single calls behind a gate and without one are not compared, so what was measured before is
// thrown away, and there are only so many tries: with too few of them nothing is known about
// overlap. Its twin is honest_synchronizes.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  static bool timed = false;
  static int singles = 0;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (known_round.asked == nullptr) {
    return 1;
  }
  timed |= known_round.asked->count > 8;
  if (known_round.asked->count > 1) {
    return launch_beside(call);
  }
  const int failed = launch(call, call.stream);
  singles += timed ? 1 : 0;
  if (singles == 15) {
    cudaStreamSynchronize(call.stream);
  }
  return failed;
}
