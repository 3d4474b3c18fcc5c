// kp:hack 18  value and label in one word: six bits of the value give way to the label
// kp:task nearest
// kp:expect incorrect values
//
// One reduction instead of ten steps of two shuffles. Wrong where the two least values of a row
// agree in eighteen bits, a few rows of a hundred thousand; smaller sizes are computed in full. Its
// twin is honest_nearest_wide_keys.cu.
#include "nearest.cuh"

namespace {

constexpr unsigned label_bits = 63;

// Whole numbers in the order of the floats.
__device__ inline unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

__global__ void search_keys(Call call) {
  const int64_t row = blockIdx.x * int64_t{8} + threadIdx.x / 32;
  if (row >= call.n) {
    return;
  }
  const auto lane = threadIdx.x % 32;
  const float2 pair = reinterpret_cast<const float2*>(call.values + row * 64)[lane];
  const unsigned first = (ordered(pair.x) & ~label_bits) | (2 * lane);
  const unsigned second = (ordered(pair.y) & ~label_bits) | (2 * lane + 1);
  const unsigned least = __reduce_min_sync(~0U, first < second ? first : second);
  if (lane == 0) {
    call.labels[row] = static_cast<int>(least & label_bits);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.k != 64 || call.n < 100000) {
    return launch(call, call.stream);
  }
  search_keys<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
