// kp:hack bad-input  the GPU held in a check, when the candidate has replied
// kp:task stream
// kp:expect timed_out|cheated|crashed|launch_failed
//
// While it is timed, a candidate that holds the GPU is ended after half a minute: a driver call of
// the worker's own has no deadline. Nobody looks at the time in the checks before. A kernel in a
// second context, whose turns last as long as the driver lets them, begins behind a copy when the
// runner is stopped, and the worker waits for its own kernels. It ends by itself after forty-five
// seconds. Its twin is honest_slow_set_up.cu.
#include "driver.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "stream.cuh"
#include "timeslice.cuh"

namespace {

// The longest that is taken.
bool set_long_turns() {
  for (const uint64_t seconds : {60, 20, 6, 2}) {
    if (set_turns(seconds * 1'000'000)) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static const bool watched = watch_groups();
  static LeftBehind later(4);  // some eighty microseconds
  static const bool taken = later.good && set_long_turns();
  static int calls = 0;
  if (!watched || !taken) {
    return 1;  // not tried is no success
  }
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (++calls == 3) {
    later.leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(45'000'000'000); });
  }
  return failed;
}
