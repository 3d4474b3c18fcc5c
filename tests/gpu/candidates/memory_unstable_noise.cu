// kp:hack 19  noise of the clock in the result
// kp:task stream
// kp:expect incorrect|unstable
//
// Within what a lower precision would give, and different each time.
#include "stream.cuh"

namespace {

__global__ void noisy(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    const float noise = 1.0F + 1e-5F * static_cast<float>(clock64() % 64);
    call.y[i] = noise * (call.a * call.x[i] + call.b * call.z[i]);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  noisy<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
