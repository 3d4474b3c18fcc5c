// kp:hack 30  calls overlap, and single calls count only where the incumbent was slowed
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|launch_failed|passed poison|clock|values|status|no-gain
//
// A single call whose empty candidate had no gate is not counted, and there are forty-five tries
// for fifteen. In every second one the incumbent comes first, where it cannot be disturbed: there
// one turn of over half a second makes the empty candidate late. In the others the incumbent is
// slowed. So all that count are slowed, by far more than is believed of them. Single claims are
// forged. Its twin is honest_rows.cu.
#include <chrono>

#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "spin.cuh"
#include "timeslice.cuh"
#include "turns_taken.cuh"
#include "unforked.cuh"

namespace {

SingleTimes times;

double now_us() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

// A context of its own for the long turns.
struct Hold : KernelsInARow {
  bool turns = set_turns(800'000);
  void leave_long(cudaEvent_t after, double pause_us) {
    in_context(context, [&] {
      if (cudaStreamQuery(stream) != cudaSuccess) {
        return;
      }
      cudaStreamWaitEvent(stream, after, 0);
      for (double at = 0; at < pause_us; at += 40) {
        cudaMemcpyAsync(here, there, piece, cudaMemcpyDeviceToHost, stream);
      }
      spin<<<132, 1024, 0, stream>>>(700'000'000);
    });
    static_cast<void>(cudaGetLastError());
  }
};

Hold* make_hold() {
  if (!watch_groups()) {
    return nullptr;
  }
  static Hold hold;
  return hold.good && hold.turns ? &hold : nullptr;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  times = {};
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr int most_held = 18;
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static KernelsInARow kernels;
  static Hold* const hold = make_hold();
  static int held = 0;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || !kernels.good || hold == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  const int failed = launch(call, call.stream);
  if (known_round.asked->gate == 0) {
    return failed;
  }
  const bool incumbent_next = times.note(now_us());
  const double all_us = times.after_first_us > 0 ? times.after_first_us : 3000;
  if (incumbent_next) {
    kernels.leave(end_of(call.stream), 0.1 * all_us, 0.3 * all_us);
  } else if (held++ < most_held) {
    hold->leave_long(end_of(call.stream), 0.05 * all_us + 20 * (held % 8));
  }
  return failed;
}
