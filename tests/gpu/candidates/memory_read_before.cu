// kp:hack 19  one element read before an input
// kp:task stream
// kp:expect crashed|incorrect guard|values|poison
//
// As behind it.
#include "stream.cuh"

namespace {

__global__ void touch(Call call) {
  call.y[0] += 0.0F * call.x[-1];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  touch<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
