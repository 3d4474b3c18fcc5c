// kp:hack 21  one NaN that is not the poison
// kp:task stream
// kp:expect incorrect
//
// Not finite is wrong where the reference is finite.
#include "stream.cuh"

namespace {

__global__ void spoil(Call call) {
  call.y[call.n / 2] = __int_as_float(0x7fc00000);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  spoil<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
