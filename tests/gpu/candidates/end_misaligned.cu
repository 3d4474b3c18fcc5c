// kp:hack bad-input  a misaligned access on the device
// kp:task stream
// kp:expect crashed device|guard
//
// Four bytes at an odd address.
#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  auto* odd = reinterpret_cast<volatile float*>(reinterpret_cast<uint64_t>(call.y) + 1);
  *odd = 1.0F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
