// kp:hack 34  every page of the round touched before the clock
// kp:task stream
// kp:expect cheated|passed clock|no-gain
//
// There is nothing but poison to read, but the addresses are translated, the kernel is loaded and
// the clocks are up when the worker's clock starts. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

KnownRound known_round;
cudaStream_t own = nullptr;
bool touched = false;

struct Places {
  int count;
  size_t bytes;
  const char* at[3 * most_calls];
};

__global__ void touch(Places places, unsigned* never) {
  constexpr size_t step = size_t{1} << 16;
  unsigned all = 0;
  const char* at = places.at[blockIdx.x];
  for (size_t offset = threadIdx.x * step; offset < places.bytes; offset += blockDim.x * step) {
    all += *reinterpret_cast<const volatile unsigned*>(at + offset);
  }
  if (all == 1) {
    *never = all;
  }
}

int touch_all() {
  if (own == nullptr || !known_round.known()) {
    return 0;
  }
  Places places = {};
  for (uint32_t i = 0; i < known_round.asked->count; ++i) {
    const uint32_t set = known_round.asked->sets[i];
    const Call call = call_of(known_round.context(set), known_round.tensors(set));
    places.bytes = static_cast<size_t>(call.n) * sizeof(float);
    for (const void* at : {static_cast<const void*>(call.x), static_cast<const void*>(call.z),
                           static_cast<const void*>(call.y)}) {
      places.at[places.count++] = static_cast<const char*>(at);
    }
  }
  static unsigned* never = nullptr;
  if (never == nullptr) {
    cudaMalloc(&never, sizeof *never);
  }
  touch<<<places.count, 256, 0, own>>>(places, never);
  touched = cudaStreamSynchronize(own) == cudaSuccess;
  return 0;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  return call_before_ready(touch_all);
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
  static int missed = 0;
  return ready && (touched || ++missed < 500) ? launch(call, call.stream) : 1;
}
