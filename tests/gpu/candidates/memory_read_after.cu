// kp:hack 19  one element read past an input
// kp:task stream
// kp:expect crashed|incorrect guard|values|poison
//
// It is poison there, or nothing is mapped; it counts for nothing in the result and shows all the
// same.
#include "stream.cuh"

namespace {

__global__ void touch(Call call) {
  call.y[call.n - 1] += 0.0F * call.x[call.n];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  touch<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
