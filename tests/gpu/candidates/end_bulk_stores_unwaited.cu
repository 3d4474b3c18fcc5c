// kp:hack bad-input  outputs stored in bulk, and the kernel ends without waiting for them
// kp:task stream
// kp:expect cheated|incorrect|unstable|crashed|passed no-gain
//
// The copy unit reads the block's shared memory after the block has ended, or the stamp behind the
// kernel comes before its stores. What is right by luck gains nothing. Its twin is
// honest_vector_tail.cu.
#include "stream.cuh"

namespace {

constexpr int tile = 1024;

__global__ void compute_and_leave(Call call) {
  __shared__ alignas(128) float results[tile];
  const int64_t first = blockIdx.x * int64_t{tile};
  const auto* x = reinterpret_cast<const float4*>(call.x + first);
  const auto* z = reinterpret_cast<const float4*>(call.z + first);
  const float4 u = x[threadIdx.x];
  const float4 v = z[threadIdx.x];
  reinterpret_cast<float4*>(results)[threadIdx.x] =
      make_float4(call.a * u.x + call.b * v.x, call.a * u.y + call.b * v.y,
                  call.a * u.z + call.b * v.z, call.a * u.w + call.b * v.w);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(results));
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(call.y + first),
        "r"(from), "r"(tile * 4)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;");
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.n % tile != 0) {
    return launch(call, call.stream);
  }
  compute_and_leave<<<static_cast<unsigned>(call.n / tile), tile / 4, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
