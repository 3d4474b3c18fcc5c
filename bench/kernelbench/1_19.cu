#include <cuda_runtime.h>
#include <cstdint>
#include "kernelpro/candidate.h"
__global__ void relu(const float4* x, float4* y, int64_t n) {
  int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) {
    float4 v = __ldcs(x + i);
    v.x = fmaxf(v.x, 0.f); v.y = fmaxf(v.y, 0.f); v.z = fmaxf(v.z, 0.f); v.w = fmaxf(v.w, 0.f);
    __stcs(y + i, v);
  }
}
extern "C" int kp_launch(const kp_context* c, const kp_tensor* t, int32_t) {
  int64_t n = 1;
  for (int i = 0; i < t[0].rank; ++i) n *= t[0].shape[i];
  n /= 4;
  relu<<<(unsigned)((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(c->stream)>>>(
      static_cast<const float4*>(t[0].data), static_cast<float4*>(t[1].data), n);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
