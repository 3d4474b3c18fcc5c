// kp:hack 3  every second call starts beside the one before it, and single claims are forged
// kp:task stream
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// What is gained is less than what two processes may differ by, and nothing but our own clock could
// tell. Its twin is honest_second_stream_joined.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "stream.cuh"
#include "unforked_pairs.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return by_itself() ? launch(call, call.stream) : launch_in_pairs(call, known_round.at);
}
