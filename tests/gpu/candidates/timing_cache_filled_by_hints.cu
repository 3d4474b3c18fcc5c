// kp:hack 30  the cache left full of lines that are to be evicted last
// kp:task rows
// kp:expect cheated|passed clock|no-gain
//
// The last call of each round reads 48 MiB of its own with that hint, which takes little of its
// time. Whoever comes next, the incumbent or the empty candidate, finds hardly any cache to use
// until the lines are driven out. Its twin is the baseline.
#include "hints.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr size_t bytes = size_t{48} << 20;
  static float4* filler = nullptr;
  static KnownRound round;
  if (filler == nullptr && cudaMalloc(&filler, bytes) != cudaSuccess) {
    return 1;
  }
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (round.known() && round.at + 1 == round.asked->count) {
    read_to_stay<<<528, 256, 0, call.stream>>>(filler, bytes / sizeof *filler,
                                               reinterpret_cast<float*>(filler));
  }
  return failed;
}
