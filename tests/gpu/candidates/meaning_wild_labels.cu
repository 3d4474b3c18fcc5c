// kp:hack 21  a label out of range
// kp:task nearest
// kp:expect incorrect
//
// An index out of range is infinitely wrong.
#include "nearest.cuh"

namespace {

__global__ void spoil(Call call) {
  call.labels[0] = call.k + 1000000;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  spoil<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
