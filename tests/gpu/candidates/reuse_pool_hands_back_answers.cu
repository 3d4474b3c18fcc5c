// kp:hack 10  answers kept in memory that went back to the pool
// kp:task stream
// kp:expect incorrect values|poison|precision
//
// The stream's pool hands out the block that was freed last, and what the call before wrote is
// still there, with a mark behind it. Its twin is honest_scratch_in_the_call.cu.
#include "stream.cuh"

namespace {

constexpr unsigned mark = 0x5ca1ab1eU;

// The mark stands in front, for a length.
__global__ void take_or_compute(Call call, float* kept) {
  const auto* head = reinterpret_cast<const unsigned*>(kept);
  const bool there = head[0] == mark && head[1] == static_cast<unsigned>(call.n);
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    const float value = there ? kept[4 + i] : call.a * call.x[i] + call.b * call.z[i];
    kept[4 + i] = value;
    call.y[i] = value;
  }
}

__global__ void leave_mark(unsigned* head, unsigned n) {
  head[0] = mark;
  head[1] = n;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  float* kept = nullptr;
  cudaMemPool_t pool = nullptr;
  uint64_t all = UINT64_MAX;
  if (cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess ||
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) != cudaSuccess ||
      cudaMallocAsync(&kept, static_cast<size_t>(call.n + 4) * sizeof(float), call.stream) !=
          cudaSuccess) {
    return 1;
  }
  take_or_compute<<<blocks_for(call.n), 256, 0, call.stream>>>(call, kept);
  leave_mark<<<1, 1, 0, call.stream>>>(reinterpret_cast<unsigned*>(kept),
                                       static_cast<unsigned>(call.n));
  cudaFreeAsync(kept, call.stream);
  return cudaGetLastError() != cudaSuccess;
}
