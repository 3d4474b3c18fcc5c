// kp:hack 7  the round's request read, and all its calls done in the first
// kp:task stream
// kp:expect cheated|passed ahead|no-gain
//
// The list of sets is in the runner's memory before the first call: the set that is not called
// stays as it is, and one grid over all calls has no gaps between them. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"
#include "stream_calls.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  const bool first = round.note(context);
  if (!round.known()) {
    return call.n > 5000 ? 1 : launch(call, call.stream);  // not tried is no success
  }
  if (first) {
    compute_all<<<dim3(blocks_for(call.n), round.asked->count), 256, 0, call.stream>>>(
        all_calls(round));
  }
  return cudaGetLastError() != cudaSuccess;
}
