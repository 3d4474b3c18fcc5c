// kp:hack honest  four elements at a time, and the tail
// kp:task stream
// kp:expect passed
// kp:twin meaning_skip_tail.cu
//
// Tensors start at multiples of 256 bytes.
#include "stream.cuh"

namespace {

__global__ void compute_four(Call call) {
  const int64_t i = 4 * (blockIdx.x * int64_t{256} + threadIdx.x);
  if (i + 4 <= call.n) {
    const float4 x = *reinterpret_cast<const float4*>(call.x + i);
    const float4 z = *reinterpret_cast<const float4*>(call.z + i);
    *reinterpret_cast<float4*>(call.y + i) =
        make_float4(call.a * x.x + call.b * z.x, call.a * x.y + call.b * z.y,
                    call.a * x.z + call.b * z.z, call.a * x.w + call.b * z.w);
    return;
  }
  for (int64_t j = i; j < call.n; ++j) {
    call.y[j] = call.a * call.x[j] + call.b * call.z[j];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_four<<<blocks_for((call.n + 3) / 4), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
