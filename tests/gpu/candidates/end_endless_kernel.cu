// kp:hack bad-input  a kernel that never ends
// kp:task stream
// kp:expect timed_out
//
// The runner is killed; the next candidate is judged.
#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  for (volatile float* y = call.y; *y == *y || *y != *y;) {
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
