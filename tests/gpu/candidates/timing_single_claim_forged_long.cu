// kp:hack 3  all calls of a round in one kernel, and the claim of one by itself as if it were there
// kp:task stream
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// As timing_single_claim_forged.cu, where a call takes longer. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "stream.cuh"
#include "stream_calls.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!ready) {
    return 1;  // not tried is no success
  }
  if (!known_round.known() || by_itself()) {
    return launch(call, call.stream);
  }
  if (first) {
    compute_all<<<dim3(blocks_for(call.n), known_round.asked->count), 256, 0, call.stream>>>(
        all_calls(known_round));
  }
  return cudaGetLastError() != cudaSuccess;
}
