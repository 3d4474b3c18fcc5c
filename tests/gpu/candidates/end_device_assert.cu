// kp:hack bad-input  an assertion fails on the device
// kp:task stream
// kp:expect crashed device
//
// The context is lost; the process with it.
#include <cassert>

#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  assert(call.n < 0);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
