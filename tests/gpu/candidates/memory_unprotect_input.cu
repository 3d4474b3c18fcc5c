// kp:hack 17  the mapping of an input made writable, then written
// kp:task stream
// kp:expect cheated|crashed|launch_failed input_write|guard|device|status
//
// The driver lets a process change the rights of its own mappings. The worker hashes the inputs
// before and after.
#include "driver.cuh"
#include "stream.cuh"

#include "make_writable.cuh"

namespace {

__global__ void zero_first(Call call) {
  const_cast<float*>(call.x)[0] = 0.0F;
  call.y[0] = call.b * call.z[0];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!make_writable(call) || launch(call, call.stream) != 0) {
    return 1;
  }
  zero_first<<<1, 1, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
