// kp:hack 34  a kernel started before the clock that spins until its inputs are there
// kp:task stream
// kp:expect cheated|incorrect|timed_out|passed ahead|late_work|poison|clock|values|no-gain
//
// It takes its slices of the worker's copying, which are on its own clock. Its twin is
// honest_persistent_blocks.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"
#include "stream_calls.cuh"

namespace {

KnownRound known_round;
cudaStream_t own = nullptr;
cudaEvent_t done = nullptr;
uint32_t queued = 0;  // the request that has been seen to

int queue_all() {
  if (own == nullptr || !known_round.known()) {
    return 0;
  }
  const AllCalls all = all_calls(known_round);
  compute_all_as_they_arrive<<<dim3(blocks_for(all.n), known_round.asked->count), 256, 0, own>>>(
      all);
  cudaEventRecord(done, own);
  queued = known_round.asked->sequence;
  return 0;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  return call_before_ready(queue_all);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!ready || !known_round.known() || queued != known_round.asked->sequence) {
    static int missed = 0;
    return !ready || ++missed > 500 ? 1 : launch(call, call.stream);  // not tried is no success
  }
  return first ? cudaStreamWaitEvent(call.stream, done, 0) : 0;
}
