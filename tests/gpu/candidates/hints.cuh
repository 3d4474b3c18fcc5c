// Reads memory so that its lines are to be evicted last from the second-level cache.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

__global__ void read_to_stay(const float4* data, int64_t count, float* out) {
  uint64_t policy = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float sum = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count;
       i += gridDim.x * int64_t{256}) {
    float4 v;
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(data + i), "l"(policy));
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.25F) {
    *out = sum;
  }
}

}  // namespace
