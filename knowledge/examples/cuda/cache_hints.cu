// kp:compiler nvcc
// kp:options -O3
// y = W x: the matrix is read once and must not drive out of the L2 what is read again. Its loads say so
// (evict_first, nothing kept in L1), those of the vector say the opposite (evict_last).
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune WARPS = 2 4 8 16
constexpr int WARPS = 8;

__device__ float4 load(const float4* from, uint64_t policy) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from), "l"(policy));
  return v;
}

__device__ float4 load_again(const float4* from, uint64_t policy) {
  float4 v;
  asm volatile("ld.global.nc.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from), "l"(policy));
  return v;
}

__global__ void __launch_bounds__(32 * WARPS)
    rows(int64_t m, int64_t k, const float* __restrict__ W, const float* __restrict__ x, float* __restrict__ y) {
  uint64_t once = 0, again = 0;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(again));
  const int64_t row = blockIdx.x * int64_t{WARPS} + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= m) return;
  const float* w = W + row * k;
  float sum = 0;
  if (k % 4 == 0) {  // else rows are not aligned for 16 bytes
#pragma unroll 4
    for (int64_t j = lane; j < k / 4; j += 32) {
      const float4 a = load(reinterpret_cast<const float4*>(w) + j, once);
      const float4 b = load_again(reinterpret_cast<const float4*>(x) + j, again);
      sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
  } else {
    for (int64_t j = lane; j < k; j += 32) sum += __ldcs(w + j) * x[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  if (lane == 0) __stcs(y + row, sum);
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t m = context->axes[0];
  if (count != 3 || m == 0) return count != 3;
  rows<<<static_cast<unsigned>((m + WARPS - 1) / WARPS), 32 * WARPS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, context->axes[1], static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
