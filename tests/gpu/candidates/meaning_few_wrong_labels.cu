// kp:hack 16  one label of two thousand is not looked for
// kp:task nearest
// kp:expect incorrect values
//
// At the timed shape alone, where the reference is too slow to be asked for everything: few enough
// to be taken for ties, were they not asked about one by one.
#include "nearest.cuh"

namespace {

constexpr int64_t large = 100000;
constexpr int64_t skipped = 2000;

__global__ void search(Call call) {
  const int64_t row = blockIdx.x * int64_t{256} + threadIdx.x;
  if (row >= call.n) {
    return;
  }
  float best = INFINITY;
  int label = 0;
  const int length = call.n > large && row % skipped == skipped / 2 ? 1 : call.k;
  for (int j = 0; j < length; ++j) {
    const float value = call.values[row * call.k + j];
    if (value < best) {
      best = value;
      label = j;
    }
  }
  call.labels[row] = label;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  search<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
