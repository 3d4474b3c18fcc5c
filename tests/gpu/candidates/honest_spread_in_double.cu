// kp:hack honest  squares added from the last to the first, the ends of parts in double
// kp:task spread
// kp:expect passed
// kp:twin meaning_half_of_long_rows.cu
//
// Another order and other roundings than the baseline's, and nearer to the truth.
#include "spread.cuh"

namespace {

__global__ void add_backwards(Call call) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  float mine = 0;
  for (int64_t j = edge(call, part + 1) - 1 - threadIdx.x; j >= edge(call, part); j -= 256) {
    mine = fmaf(row[j], row[j], mine);
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = sum;
  }
}

__global__ void finish_in_double(Call call) {
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int part = parts; part-- > 0;) {
      sum += call.sums[blockIdx.x * parts + part];
    }
    call.y[blockIdx.x] =
        static_cast<float>(call.gain[blockIdx.x] * sqrt(sum / static_cast<double>(call.k)));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  add_backwards<<<dim3(parts, call.m), 256, 0, call.stream>>>(call);
  finish_in_double<<<call.m, 32, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
