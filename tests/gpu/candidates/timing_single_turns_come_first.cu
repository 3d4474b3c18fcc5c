// kp:hack 9  calls overlap, and a call by itself is in a context whose turns come more often
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|crashed|launch_failed|passed poison|clock|values|status|device|guard|no-gain
//
// The driver lets a process say how long the turns of its groups of channels are, and how often
// they come among those of others. With the highest level, and turns as short as they can be, the
// GPU may come to the call sooner, and back to the worker sooner, than for the empty candidate,
// whose turn is taken off. Single claims are forged. Its twin is honest_high_priority_stream.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "single_elsewhere.cuh"
#include "timeslice.cuh"
#include "unforked.cuh"

namespace {

// Of all groups that were made since watch_groups(); whether the driver took it for one of them.
bool set_level(uint32_t level) {
  constexpr uint32_t set_interleave_level = 0xa06c0107;
  bool taken = false;
  for (int i = 0; i < group_count; ++i) {
    Control control = {
        groups[i].client, groups[i].object, set_interleave_level, 0, &level, sizeof level, 0};
    const int code = real_ioctl(groups[i].descriptor, _IOWR('F', 0x2a, Control), &control);
    taken |= code == 0 && control.status == 0;
  }
  return taken;
}

Elsewhere* make_elsewhere() {
  constexpr uint32_t highest = 2;
  const bool watched = watch_groups();
  static Elsewhere elsewhere;
  if (!watched || !elsewhere.good) {
    return nullptr;
  }
  const bool level = set_level(highest);
  const bool turns = set_turns(100) || set_turns(1000);
  return level || turns ? &elsewhere : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static Elsewhere* const elsewhere = make_elsewhere();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (!ready || elsewhere == nullptr || gate == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  const uint32_t number = known_round.asked->gate;
  return number == 0 ? launch(call, call.stream) : elsewhere->launch_at(gate, number, call);
}
