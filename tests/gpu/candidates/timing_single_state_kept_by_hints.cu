// kp:hack 6  calls overlap, and the state of a single call is kept in the cache by a hint
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Constants may be copied into the state. It is memory of the runner's, so no copy of the worker's
// goes over its lines: only a sweep that stays as long drives them out, and not all of them. Its twin
// is honest_prepare_packed.cu.
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
    const kp_context* context = known_round.context(known_round.asked->sets[0]);
    for (int i = 0; i < 2; ++i) {
      read_to_stay<<<528, 256, 0, own>>>(static_cast<const float4*>(context->state),
                                         static_cast<int64_t>(context->state_bytes / 16), never);
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

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return cudaMemcpyAsync(context->state, call.weights, context->state_bytes,
                         cudaMemcpyDeviceToDevice, call.stream);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  Call call = call_of(context, tensors);
  call.weights = static_cast<const float*>(context->state);
  known_round.note(context);
  const bool alone = !known_round.known() || known_round.asked->count == 1;
  return !ready ? 1 : alone ? launch(call, call.stream) : launch_beside(call);
}
