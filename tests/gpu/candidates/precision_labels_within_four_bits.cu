// kp:hack 18  four bits of the least value give way to the lane that has it
// kp:task nearest
// kp:expect incorrect values|precision
//
// Sixteen lanes have the least of four values each, exactly; one of two that agree in 28 bits may
// win over the other. At a size where the reference is not asked, labels may be wrong by twice the
// bound, and these are by 1.7 times at the most; smaller sizes are in full. Its twin is
// honest_nearest_four_a_lane.cu.
#include "nearest.cuh"
#include "nearest_keys.cuh"

namespace {

__global__ void search_keys(Call call) {
  const int64_t row = blockIdx.x * int64_t{16} + threadIdx.x / 16;
  const unsigned lane = threadIdx.x % 16;
  const float4 v = reinterpret_cast<const float4*>(call.values + row * 64)[lane];
  const unsigned first = v.y < v.x ? 1 : 0;
  const unsigned second = v.w < v.z ? 3 : 2;
  const float low = fminf(v.x, v.y);
  const float high = fminf(v.z, v.w);
  const unsigned key = (ordered(fminf(low, high)) & ~15U) | lane;
  unsigned least = key;
  for (int offset = 8; offset > 0; offset /= 2) {
    const unsigned other = __shfl_xor_sync(~0U, least, offset);
    least = other < least ? other : least;
  }
  if (key == least) {
    call.labels[row] = static_cast<int>(4 * lane + (high < low ? second : first));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!is_timed(call)) {
    return launch(call, call.stream);
  }
  search_keys<<<static_cast<unsigned>(call.n / 16), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
