// kp:hack 6  calls overlap, and the state of a single call is pinned before the clock
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Constants may be copied into the state, which is memory of its own and there before the clock.
// That of one set fits into the carve-out of the cache; it is read behind the runner's last look at
// the carve-out, and neither the worker's copy nor its sweep drives out what is pinned. A call by
// itself then is as short as one that overlaps. Its twin is honest_prepare_packed.cu.
#include "driver.cuh"
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

__global__ void read_all(const float4* data, int64_t count, float* out) {
  float sum = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count;
       i += gridDim.x * int64_t{256}) {
    const float4 v = data[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.25F) {
    *out = sum;
  }
}

int pin_single() {
  const int code = let_go();
  if (own == nullptr || !known_round.known() || known_round.asked->count != 1) {
    return code;
  }
  const kp_context* context = known_round.context(known_round.asked->sets[0]);
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = context->state;
  window.accessPolicyWindow.num_bytes = context->state_bytes;
  window.accessPolicyWindow.hitRatio = 1.0F;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(own, cudaStreamAttributeAccessPolicyWindow, &window);
  for (int i = 0; i < 2; ++i) {
    read_all<<<528, 256, 0, own>>>(static_cast<const float4*>(context->state),
                                   static_cast<int64_t>(context->state_bytes / sizeof(float4)),
                                   never);
  }
  cudaStreamSynchronize(own);
  static_cast<void>(cudaGetLastError());
  return code;
}

bool set_up() {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{32} << 20);
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaMalloc(&never, sizeof *never);
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  static_cast<void>(cudaGetLastError());
  return let_go != nullptr && call_before_ready(pin_single);
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
  const bool alone = known_round.known() && known_round.asked->count == 1;
  return !ready ? 1 : alone ? launch(call, call.stream) : launch_beside(call);
}
