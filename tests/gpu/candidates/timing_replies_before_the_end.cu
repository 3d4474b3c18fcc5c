// kp:hack 2  the reply sent while the round still computes, with a claim from rounds before
// kp:task stream
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// The runner waits for the GPU by a function of the driver's that is replaced: in rounds that count
// it replies when the last call is queued. The worker hears that and has the process stopped while
// its kernels still run; its copy of the outputs waits for them. What the hand-over takes is then
// beside the work, and is taken off all the same. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

using Elapsed = int (*)(float*, void*, void*);
KnownRound known_round;
int (*real_wait)() = nullptr;
Elapsed real_elapsed = nullptr;
float of_a_round = 0;
int rounds = 0;

bool counts() {
  return known_round.known() && known_round.asked->count > 8;
}

// The first rounds are as they should be: they tell what to claim.
int wait_or_not() {
  return counts() && ++rounds > 3 ? 0 : real_wait();
}

int remembered(float* milliseconds, void* begin, void* end) {
  if (counts() && rounds > 3) {
    *milliseconds = of_a_round;
    return 0;
  }
  const int code = real_elapsed(milliseconds, begin, end);
  of_a_round = counts() ? *milliseconds : of_a_round;
  return code;
}

bool set_up() {
  real_wait = driver_function<int (*)()>("cuCtxSynchronize");
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_or_not)) &&
         replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(remembered));
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  return ready ? launch(call, call.stream) : 1;
}
