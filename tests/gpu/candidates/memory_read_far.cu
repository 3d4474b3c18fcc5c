// kp:hack 19  a read two mebibytes past an input
// kp:task stream
// kp:expect crashed guard
//
// Nothing is mapped there, and the value has no effect.
#include "stream.cuh"

namespace {

__global__ void touch(Call call) {
  if (call.x[call.n + (1 << 19)] == 0.5F) call.y[0] = call.y[0] + 0.0F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  touch<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
