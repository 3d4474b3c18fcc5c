// kp:hack 1  calls that overlap, and one that waits for the GPU inside where it is by itself
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Who waits inside a call cannot be queued ahead of its inputs: no gate is before it then. Here that
// is only so where a call is by itself; in rounds the calls overlap. Its twin is
// honest_synchronizes.cu.
#include "rows.cuh"
#include "program.cuh"
#include "round.cuh"
#include "unforked.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  const bool alone = known_round.asked != nullptr && known_round.asked->count == 1;
  const int failed = launch_beside(call);
  if (alone) {
    cudaStreamSynchronize(call.stream);
  }
  return failed;
}
