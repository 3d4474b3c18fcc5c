// kp:hack honest  value and label compared as one word of 64 bits
// kp:task nearest
// kp:expect passed
// kp:twin precision_labels_by_packed_keys.cu
//
// Nothing of the value gives way to the label.
#include "nearest.cuh"

namespace {

__device__ inline unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value == 0.0F ? 0.0F : value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

__global__ void search_keys(Call call) {
  const int64_t row = blockIdx.x * int64_t{8} + threadIdx.x / 32;
  if (row >= call.n) {
    return;
  }
  unsigned long long least = ~0ULL;
  for (unsigned j = threadIdx.x % 32; j < static_cast<unsigned>(call.k); j += 32) {
    const unsigned long long key =
        static_cast<unsigned long long>(ordered(call.values[row * call.k + j])) << 32 | j;
    least = key < least ? key : least;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_down_sync(~0U, least, offset);
    least = other < least ? other : least;
  }
  if (threadIdx.x % 32 == 0) {
    call.labels[row] = static_cast<int>(least & 0xffffffffU);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  search_keys<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
