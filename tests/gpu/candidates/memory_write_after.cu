// kp:hack 19  one element written past the output
// kp:task stream
// kp:expect crashed|incorrect guard
//
// The bytes up to the unmapped pages are watched.
#include "stream.cuh"

namespace {

__global__ void touch(Call call) {
  call.y[call.n] = 1.0F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  touch<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
