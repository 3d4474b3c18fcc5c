// kp:hack 30  long calls overlap by three tenths, and the incumbent's single calls are slowed
// kp:task filter
// kp:expect cheated|incorrect|unstable|timed_out|crashed|passed poison|clock|values|no-gain
//
// From 29.4 us a call on, only what the empty candidate takes longer beside the candidate is held
// against what it takes alone. What the incumbent's single call takes longer, up to twenty
// microseconds on our clock and five on its own, is taken off the candidate's, and no one asks for
// it again when the candidate is gone. It comes behind the candidate in eight of fifteen, which is
// what a median needs: short kernels of a second context run then, and are over when the empty
// candidate has its turn. Single claims are forged. Its twin is honest_filter_dependent_launch.cu.
#include <chrono>

#include "driver.cuh"
#include "filter.cuh"
#include "filter_overlapped.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "second_context.cuh"
#include "spin.cuh"
#include "turns_taken.cuh"

namespace {

SingleTimes times;

double now_us() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  times = {};
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static KernelsInARow kernels;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || !kernels.good || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_overlapped(call, 0.7);
  }
  const int failed = launch(call, call.stream);
  if (known_round.asked->gate != 0 && times.note(now_us())) {
    const double all_us = times.after_first_us > 0 ? times.after_first_us : 3000;
    kernels.leave(end_of(call.stream), 0.1 * all_us, 0.3 * all_us);
  }
  return failed;
}
