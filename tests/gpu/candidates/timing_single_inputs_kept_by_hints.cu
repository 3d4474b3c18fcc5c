// kp:hack 6  calls overlap, and the inputs of a single call are kept in the cache by a hint
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// A load may say that its line is to be evicted last: that needs no carve-out, and nothing gives
// such lines back. Those of the called set, poison still, are read so before the clock. A plain
// copy of the worker's would write into lines that are there, a plain sweep prefer others, and a
// call by itself be as short as one that overlaps. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "hints.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

KnownRound known_round;
cudaStream_t own = nullptr;
float* never = nullptr;
int (*let_go)() = nullptr;

int keep_single() {
  const int code = let_go();
  if (own != nullptr && known_round.known() && known_round.asked->count == 1) {
    const uint32_t set = known_round.asked->sets[0];
    const Call call = call_of(known_round.context(set), known_round.tensors(set));
    for (int i = 0; i < 2; ++i) {
      read_to_stay<<<528, 256, 0, own>>>(reinterpret_cast<const float4*>(call.weights),
                                         int64_t{call.m} * call.k / 4, never);
    }
    cudaStreamSynchronize(own);
    static_cast<void>(cudaGetLastError());
  }
  return code;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaMalloc(&never, sizeof *never);
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  return let_go != nullptr && call_before_ready(keep_single);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  const bool alone = !known_round.known() || known_round.asked->count == 1;
  return !ready ? 1 : alone ? launch(call, call.stream) : launch_beside(call);
}
