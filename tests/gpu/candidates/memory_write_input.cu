// kp:hack 17  a kernel writes to an input
// kp:task stream
// kp:expect crashed guard|input_write|device
//
// Inputs are mapped read-only on the device.
#include "stream.cuh"

namespace {

__global__ void scale_input(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    const_cast<float*>(call.x)[i] *= call.a;
    call.y[i] = call.x[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  scale_input<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
