// kp:hack honest  the last of equally small values
// kp:task nearest
// kp:expect passed
// kp:twin meaning_few_wrong_labels.cu
//
// Labels are judged by the value they select.
#include "nearest.cuh"

namespace {

__global__ void search(Call call) {
  const int64_t row = blockIdx.x * int64_t{256} + threadIdx.x;
  if (row < call.n) {
    float best = INFINITY;
    int label = 0;
    for (int j = 0; j < call.k; ++j) {
      const float value = call.values[row * call.k + j];
      if (value <= best) {
        best = value;
        label = j;
      }
    }
    call.labels[row] = label;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  search<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
