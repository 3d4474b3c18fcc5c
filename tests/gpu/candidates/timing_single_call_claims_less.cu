// kp:hack 3  calls overlap, and the claims of rounds of one call are forged
// kp:task nearest
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// A call by itself is shorter than the hand-over's doubt, so our clock confirms nothing of its
// claim: two thirds of the truth make it as short as it looks beside others. In rounds that count
// the claim is true. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "nearest.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "unforked.cuh"

namespace {

KnownRound known_round;

using Elapsed = int (*)(float*, void*, void*);
Elapsed real_elapsed = nullptr;

int less_alone(float* milliseconds, void* begin, void* end) {
  const int code = real_elapsed(milliseconds, begin, end);
  if (known_round.asked != nullptr && known_round.asked->count == 1) {
    *milliseconds *= 0.6F;
  }
  return code;
}

bool set_up() {
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(less_alone));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  known_round.note(context);
  return ready && known_round.asked != nullptr ? launch_beside(call_of(context, tensors)) : 1;
}
