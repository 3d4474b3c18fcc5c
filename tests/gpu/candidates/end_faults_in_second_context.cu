// kp:hack 30  faults of contexts that nobody asks, when others have their turn
// kp:task nearest
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed no-gain
//
// A kernel of a second context writes through null, behind a copy that delays it until the process
// is stopped: the driver takes that context off the GPU while the incumbent or the worker computes
// there. The given context stays whole, and no call reports anything. Its twin is the baseline.
#include "driver.cuh"
#include "nearest.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"

namespace {

constexpr int contexts = 4;

__global__ void write_through(int* where) {
  *where = 1;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static LeftBehind later[contexts] = {LeftBehind(160), LeftBehind(160), LeftBehind(160),
                                       LeftBehind(160)};
  static KnownRound round;
  static int next = 0;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (!later[contexts - 1].good) {
    return 1;  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  if (next < contexts && round.known() && round.asked->count > 8 &&
      round.at + 1 == round.asked->count) {
    later[next++].leave([](cudaStream_t stream) { write_through<<<1, 1, 0, stream>>>(nullptr); });
  }
  return failed;
}
