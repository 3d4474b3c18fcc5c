// kp:hack bad-input  a null pointer on the device
// kp:task stream
// kp:expect crashed guard|device
//
// Nothing is mapped there.
#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  volatile float* nowhere = call.y - reinterpret_cast<uint64_t>(call.y) / sizeof(float);
  *nowhere = 1.0F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
