// kp:hack 30  how much the cache fetches at once, raised before each round and lowered behind it
// kp:task stream
// kp:expect cheated|passed|launch_failed clock|status|no-gain
//
// It is a hint to the device for a context. If it outlived the context's turn, others would fetch
// in pieces of 32 bytes. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

int ask_for_much() {
  cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128);
  static_cast<void>(cudaGetLastError());
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = call_before_ready(ask_for_much);
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  if (known_round.at + 1 == known_round.asked->count) {
    cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32);
    static_cast<void>(cudaGetLastError());
  }
  return failed;
}
