// kp:hack honest  four values a lane, and all bits of them compared
// kp:task nearest
// kp:expect passed
// kp:twin precision_labels_within_four_bits.cu
//
// Two rows for each warp; of equally small values the first.
#include "nearest.cuh"
#include "nearest_keys.cuh"

namespace {

__global__ void search_fours(Call call) {
  const int64_t row = blockIdx.x * int64_t{16} + threadIdx.x / 16;
  const unsigned lane = threadIdx.x % 16;
  const float4 v = reinterpret_cast<const float4*>(call.values + row * 64)[lane];
  float best = v.x;
  unsigned label = 4 * lane;
  const auto look = [&](float value, unsigned at) {
    if (value < best) {
      best = value;
      label = 4 * lane + at;
    }
  };
  look(v.y, 1);
  look(v.z, 2);
  look(v.w, 3);
  for (int offset = 8; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(~0U, best, offset);
    const unsigned other_label = __shfl_xor_sync(~0U, label, offset);
    if (other < best || (other == best && other_label < label)) {
      best = other;
      label = other_label;
    }
  }
  if (lane == 0) {
    call.labels[row] = static_cast<int>(label);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!is_timed(call)) {
    return launch(call, call.stream);
  }
  search_fours<<<static_cast<unsigned>(call.n / 16), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
