// kp:compiler nvcc
// kp:options -O3 -std=c++17
// GELU (tanh form) in one pass: 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)).
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 128 256 512
constexpr int BLOCK = 256;
// kp:tune UNROLL = 2 4 8
constexpr int UNROLL = 4;

__device__ __forceinline__ float4 load_stream(const float4* p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}
__device__ __forceinline__ float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float rcp(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// -2 sqrt(2/pi) log2(e) (x + 0.044715 x^3) as x (A + B x^2). Overflow goes to the right limits: exp = inf gives
// x * 0, exp = 0 gives x.
__device__ __forceinline__ float gelu(float x) {
  constexpr double a = -2.0 * 0.79788456080286535588 * 1.44269504088896340736;
  constexpr float A = float(a), B = float(a * 0.044715);
  const float t = x * fmaf(B, x * x, A);
  return x * rcp(1.0f + ex2(t));
}
__device__ __forceinline__ float4 gelu4(float4 v) {
  return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
}

__global__ void __launch_bounds__(BLOCK) gelu_kernel(const float4* __restrict__ x, float4* __restrict__ y,
                                                     int64_t vectors) {
  const int64_t base = int64_t(blockIdx.x) * (BLOCK * UNROLL) + threadIdx.x;
  if (base + (UNROLL - 1) * BLOCK < vectors) {
    float4 v[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) v[i] = load_stream(x + base + i * BLOCK);
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) __stcs(y + base + i * BLOCK, gelu4(v[i]));
  } else {
    for (int i = 0; i < UNROLL; ++i) {
      const int64_t j = base + i * BLOCK;
      if (j < vectors) __stcs(y + j, gelu4(load_stream(x + j)));
    }
  }
}

__global__ void gelu_tail(const float* __restrict__ x, float* __restrict__ y, int64_t from, int64_t count) {
  const int64_t i = from + threadIdx.x;
  if (i < count) y[i] = gelu(x[i]);
}

}  // namespace

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaStream_t stream = static_cast<cudaStream_t>(context->stream);
  const float* x = static_cast<const float*>(tensors[0].data);
  float* y = static_cast<float*>(tensors[1].data);
  int64_t count = 1;
  for (int i = 0; i < tensors[0].rank; ++i) count *= tensors[0].shape[i];
  const int64_t vectors = count / 4;
  const int64_t blocks = (vectors + BLOCK * UNROLL - 1) / (BLOCK * UNROLL);
  if (blocks > 0)
    gelu_kernel<<<unsigned(blocks), BLOCK, 0, stream>>>(reinterpret_cast<const float4*>(x),
                                                        reinterpret_cast<float4*>(y), vectors);
  if (count % 4 != 0) gelu_tail<<<1, 32, 0, stream>>>(x, y, vectors * 4, count);
  return cudaGetLastError() != cudaSuccess;
}
