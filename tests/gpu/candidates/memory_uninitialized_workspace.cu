// kp:hack 19  workspace taken to be zero
// kp:task stream
// kp:expect incorrect
//
// It is poison before each call.
#include "stream.cuh"

namespace {

__global__ void add_into(Call call, float* sums) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    sums[i] += call.a * call.x[i];
    call.y[i] = sums[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  add_into<<<blocks_for(call.n), 256, 0, call.stream>>>(call,
                                                        static_cast<float*>(context->workspace));
  return cudaGetLastError() != cudaSuccess;
}
