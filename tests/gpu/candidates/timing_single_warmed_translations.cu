// kp:hack 6  calls overlap, and a call by itself has run just before, on poison and off the clock
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Before it is ready for a single call, it runs that call three times with an output of its own:
// what it reads is poison, but its addresses are translated, and its code and arguments are near. A
// sweep of the cache reaches none of that. So a single call may be shorter than the incumbent's by
// a microsecond or two, about what overlapping saves in a round. Single claims are forged. Its twin
// is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

cudaStream_t own = nullptr;
float* scratch = nullptr;
int (*let_go)() = nullptr;

int rehearse() {
  const int code = let_go();
  if (own == nullptr || !known_round.known() || !by_itself()) {
    return code;
  }
  const uint32_t set = known_round.asked->sets[0];
  Call call = call_of(known_round.context(set), known_round.tensors(set));
  const float* const y = call.y;
  call.y = scratch;
  for (int i = 0; i < 3; ++i) {
    launch(call, own);
  }
  // The page of the output, which nothing but poison is written to.
  cudaMemcpyAsync(scratch, y, static_cast<size_t>(call.m) * sizeof(float), cudaMemcpyDeviceToDevice,
                  own);
  cudaStreamSynchronize(own);
  static_cast<void>(cudaGetLastError());
  return code;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaMalloc(&scratch, size_t{1} << 20);
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  return scratch != nullptr && let_go != nullptr && forge_singles() && call_before_ready(rehearse);
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
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return by_itself() ? launch(call, call.stream) : launch_beside(call);
}
