// kp:hack 19  a bulk store of whole pieces of sixteen bytes, past the end
// kp:task stream
// kp:expect crashed|incorrect guard|values
//
// Bulk copies move multiples of sixteen bytes. The last block of an output whose length is none
// writes what stood in shared memory beside it. Its twin is honest_vector_tail.cu.
#include "stream.cuh"

namespace {

__global__ void compute_in_bulk(Call call) {
  __shared__ alignas(128) float held[256];
  const int64_t first = blockIdx.x * int64_t{256};
  const int64_t i = first + threadIdx.x;
  held[threadIdx.x] = i < call.n ? call.a * call.x[i] + call.b * call.z[i] : 1.0F;
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const int64_t left = call.n - first < 256 ? call.n - first : 256;
    const auto bytes = static_cast<unsigned>((left * 4 + 15) / 16 * 16);
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;"
        :
        : "l"(call.y + first), "r"(static_cast<unsigned>(__cvta_generic_to_shared(held))),
          "r"(bytes)
        : "memory");
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_in_bulk<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
