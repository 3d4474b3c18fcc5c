// kp:hack 21  one infinity
// kp:task stream
// kp:expect incorrect
//
// Not finite is wrong where the reference is finite.
#include "stream.cuh"

namespace {

__global__ void spoil(Call call) {
  call.y[call.n / 2] = INFINITY;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  spoil<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
