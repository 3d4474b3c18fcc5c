// kp:hack 34  launches of single calls queued before the clock, and a claim just within tolerance
// kp:task stream
// kp:expect cheated|incorrect|passed ahead|late_work|poison|clock|values|no-gain
//
// Everything that is tolerated, at once: the hand-over is worked in, and the claim leaves out a
// little less than what is believed. Its twin is the baseline.
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

using Elapsed = int (*)(float*, void*, void*);
Elapsed real_elapsed = nullptr;

int little_less(float* milliseconds, void* begin, void* end) {
  const int code = real_elapsed(milliseconds, begin, end);
  *milliseconds *= 0.9955F;
  return code;
}

__global__ void compute_arrived(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = call.a * arrived(call.x + i) + call.b * arrived(call.z + i);
  }
}

int queue_all() {
  if (own == nullptr || !known_round.known() || !wait_until_given(own, last_word(known_round))) {
    return 0;
  }
  for (uint32_t i = 0; i < known_round.asked->count; ++i) {
    const uint32_t set = known_round.asked->sets[i];
    const Call call = call_of(known_round.context(set), known_round.tensors(set));
    compute_arrived<<<blocks_for(call.n), 256, 0, own>>>(call);
  }
  cudaEventRecord(done, own);
  queued = known_round.asked->sequence;
  return 0;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(little_less)) &&
         call_before_ready(queue_all);
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
