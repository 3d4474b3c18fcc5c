// kp:hack 30  one turn of over half a second, so that the empty candidate loses its gate
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|launch_failed|passed no-gain
//
// Who is not ready within half a second is taken to wait for the GPU inside its call, and has no
// gate from then on: the incumbent and the empty candidate too, whose processes stay for all that
// follow. A single call with a gate is then held against an empty one without. The driver lets a
// process choose how long its own turns are. Calls overlap, and single claims are forged. Its twin
// is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "timeslice.cuh"
#include "unforked.cuh"

namespace {

LeftBehind* make_later() {
  static bool watched = watch_groups();
  static LeftBehind later(56);
  return watched && later.good && set_turns(800'000) ? &later : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static LeftBehind* const later = make_later();
  static int left = 0;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || later == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  if (known_round.asked->gate != 0 && left++ < 2) {
    later->leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(1'600'000'000); });
  }
  return launch(call, call.stream);
}
