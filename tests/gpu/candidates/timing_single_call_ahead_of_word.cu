// kp:hack 34  one kernel for all calls of a round, and calls by themselves queued before the clock
// kp:task stream
// kp:expect cheated|incorrect|passed ahead|late_work|poison|clock|values|no-gain
//
// A round of one call is queued behind the arrival of its last input word, and is over about when
// the first stamp is set: by its true claim a call by itself takes nothing. Over a whole round that
// gains nothing, so there one grid without gaps does all calls. Its twin is the baseline.
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

int queue_single() {
  if (own == nullptr || !known_round.known() || known_round.asked->count != 1 ||
      !wait_until_given(own, last_word(known_round))) {
    return 0;
  }
  const AllCalls all = all_calls(known_round);
  compute_all_as_they_arrive<<<dim3(blocks_for(all.n), 1), 256, 0, own>>>(all);
  cudaEventRecord(done, own);
  queued = known_round.asked->sequence;
  return 0;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  return call_before_ready(queue_single);
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
  if (!ready || !known_round.known()) {
    return ready && call.n <= 5000 ? launch(call, call.stream) : 1;  // not tried is no success
  }
  if (known_round.asked->count == 1) {
    return queued == known_round.asked->sequence ? cudaStreamWaitEvent(call.stream, done, 0)
                                                 : launch(call, call.stream);
  }
  if (first) {
    compute_all<<<dim3(blocks_for(call.n), known_round.asked->count), 256, 0, call.stream>>>(
        all_calls(known_round));
  }
  return cudaGetLastError() != cudaSuccess;
}
