// kp:hack 22  the outputs of two sets of a round change places
// kp:task stream
// kp:expect incorrect|cheated|crashed|launch_failed poison|values|guard|device|status|ahead
//
// Both are memory of the worker's, each under the other's address: nothing is missing, nothing is
// beside a buffer, and each has right values of the wrong set. Its twin is the baseline.
#include "driver.cuh"
#include "mappings.cuh"
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

bool exchange(const KnownRound& round) {
  const auto output = [&round](uint32_t at) {
    const uint32_t set = round.asked->sets[at];
    return mapped_at(round.tensors(set)[2].data);
  };
  const Mapped first = output(0);
  const Mapped second = output(1);
  const CUmemGenericAllocationHandle first_memory = memory_behind(first);
  const CUmemGenericAllocationHandle second_memory = memory_behind(second);
  return first_memory != 0 && second_memory != 0 && map_instead(first, second_memory) &&
         map_instead(second, first_memory);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  static bool exchanged = false;
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (first && !exchanged && known_round.known() && known_round.asked->count > 8) {
    exchanged = exchange(known_round);
    if (!exchanged) {
      return 1;  // not tried is no success
    }
  }
  return launch(call, call.stream);
}
