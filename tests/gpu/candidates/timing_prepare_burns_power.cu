// kp:hack 30  kp_prepare keeps all cores busy, off the clock, for as long as ten rounds
// kp:task rows
// kp:expect cheated|passed|timed_out clock|no-gain
//
// Before each of its own rounds and behind every second one of the incumbent's: clocks are up for
// the candidate, and heat is left for the other. The incumbent was timed before this process
// existed and is again after its death. Its twin is honest_prepare_packed.cu.
#include "rows.cuh"

namespace {

__global__ void burn(long long cycles, float* never) {
  const long long start = clock64();
  float a = static_cast<float>(threadIdx.x);
  while (clock64() - start < cycles) {
    for (int i = 0; i < 256; ++i) {
      a = a * 1.0001F + 0.5F;
    }
  }
  if (a == 1.0F) {
    *never = a;
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const void* first = nullptr;
  static int rows = 0;
  const Call call = call_of(context, tensors);
  if (rows != call.m) {
    rows = call.m;
    first = call.weights;
  }
  if (first == call.weights && call.k > 1500) {
    burn<<<264, 1024, 0, call.stream>>>(30'000'000, static_cast<float*>(context->state));
  }
  return cudaGetLastError() != cudaSuccess;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
