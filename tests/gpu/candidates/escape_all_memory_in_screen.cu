// kp:hack 27  all memory of the GPU taken in the first short round of the timing
// kp:task stream
// kp:expect out_of_memory|cheated|passed|timed_out|launch_failed|crashed clock|status|no-gain
//
// Behind a round of four calls the worker looks at the outputs of all other sets, whole, and needs
// a longer list for that than ever before: memory that it asks for while the candidate holds all.
// What fails there is kept as the end of its own buffers, which all that follow share. Its twin is
// honest_scratch_in_the_call.cu.
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

constexpr uint32_t calls_of_a_screen = 4;

void take_all() {
  for (size_t bytes = size_t{1} << 34; bytes >= size_t{1} << 16; bytes /= 2) {
    void* memory = nullptr;
    while (cudaMalloc(&memory, bytes) == cudaSuccess) {
    }
  }
  static_cast<void>(cudaGetLastError());
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  static bool taken = false;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (!taken && round.asked != nullptr && round.asked->count == calls_of_a_screen) {
    taken = true;
    take_all();
  }
  return launch(call, call.stream);
}
