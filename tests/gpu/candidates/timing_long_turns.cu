// kp:hack 30  turns of three seconds on the GPU for a kernel that nobody waits for
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|crashed clock|status|no-gain
//
// The driver lets a process choose how long the turns of its own contexts last. A kernel in a
// second one holds the GPU for seconds while the incumbent has its two, and while the worker waits
// for its own kernels without a deadline. It ends by itself after twenty. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "spin.cuh"
#include "stream.cuh"
#include "timeslice.cuh"

namespace {

bool hold() {
  bool taken = false;
  if (watch_groups()) {
    in_context(make_second_context(), [&taken] {
      cudaFree(nullptr);
      taken = set_turns(3'000'000);
      spin<<<132, 1024>>>(20'000'000'000);
    });
  }
  return taken && cudaGetLastError() == cudaSuccess;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (round.known() && round.asked->count > 8 && round.at + 1 == round.asked->count) {
    static const bool holding = hold();
    return holding ? failed : 1;  // not tried is no success
  }
  return failed;
}
