// kp:hack 6  outputs written so that they stay in the cache, inputs read so that they do not
// kp:task stream
// kp:expect cheated|passed bound|clock|no-gain
//
// What is in the cache at the end of a round is written to memory on somebody else's time. The
// hints make that as much as there is room for: of a round's outputs one in eighty or so. Its twin
// is honest_vector_tail.cu.
#include "stream.cuh"

namespace {

__device__ inline float read_once(const float* at) {
  uint64_t policy = 0;
  float value = 0;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(at), "l"(policy));
  return value;
}

__device__ inline void write_to_stay(float* at, float value) {
  uint64_t policy = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;"
               :
               : "l"(at), "f"(value), "l"(policy)
               : "memory");
}

__global__ void compute_with_hints(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    write_to_stay(call.y + i, call.a * read_once(call.x + i) + call.b * read_once(call.z + i));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_with_hints<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
