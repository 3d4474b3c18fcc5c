// kp:hack 30  rounds that begin late, so that the GPU rests before the other's turn
// kp:task stream
// kp:expect cheated|passed|timed_out clock|no-gain
//
// Before it says that it is ready it sleeps for 60 ms, off the clock. A GPU that rests lowers its
// clocks, and cools down as well: whoever comes next finds it so. Its twin is the baseline.
#include <unistd.h>

#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

int rest() {
  usleep(60'000);
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = call_before_ready(rest);
  const Call call = call_of(context, tensors);
  return ready ? launch(call, call.stream) : 1;  // not tried is no success
}
