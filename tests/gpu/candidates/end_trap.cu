// kp:hack bad-input  a trap on the device
// kp:task stream
// kp:expect crashed device
//
// The context is lost; the process with it.
#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  if (call.n > 0) {
    __trap();
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
