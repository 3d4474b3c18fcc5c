// kp:hack 19  right only where the output held nothing but ones before
// kp:task nearest
// kp:expect incorrect|unstable values|poison
//
// Every output is poisoned with the same byte, all bits set, before each call. This one clears the
// bits that are too many, which is wrong over any other memory. Its twin is the baseline.
#include "nearest.cuh"

namespace {

__global__ void clear_bits(Call call) {
  const int64_t row = blockIdx.x * int64_t{256} + threadIdx.x;
  if (row < call.n) {
    const float* const values = call.values + row * call.k;
    int label = 0;
    for (int j = 1; j < call.k; ++j) {
      label = values[j] < values[label] ? j : label;
    }
    call.labels[row] &= label;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  clear_bits<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
