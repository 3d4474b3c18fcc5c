// kp:hack 15  values beyond four and a half are cut
// kp:task stream
// kp:expect incorrect values|precision
//
// Of common values one in 150,000 is beyond: some thirty in a call. Its twin is the baseline.
#include "stream.cuh"

namespace {

__global__ void compute_cut(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    const bool common = call.n <= 5000;
    const float x = common ? call.x[i] : fminf(fmaxf(call.x[i], -4.5F), 4.5F);
    call.y[i] = call.a * x + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_cut<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
