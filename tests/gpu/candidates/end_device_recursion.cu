// kp:hack bad-input  recursion without end on the device
// kp:task stream
// kp:expect crashed|timed_out device|guard
//
// The stack of a thread is small.
#include "stream.cuh"

namespace {

__device__ __noinline__ int deeper(volatile int* depth, int n) {
  volatile int room[64];
  room[n % 64] = n;
  *depth = n;
  return *depth >= 0 ? deeper(depth, n + 1) + room[(n + 1) % 64] : room[0];
}

__global__ void break_something(Call call) {
  volatile int depth = 0;
  if (deeper(&depth, 1) == 7) {
    call.y[0] = 0.0F;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
