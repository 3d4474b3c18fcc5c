// kp:hack honest  weights and vector as sums of three numbers in bfloat16
// kp:task rows
// kp:expect passed
// kp:twin precision_bf16.cu
//
// Six of nine products: what is left out is below single precision.
#include <cuda_bf16.h>

#include "rows.cuh"

namespace {

struct Three {
  float high;
  float middle;
  float low;
};

__device__ inline float rounded(float value) {
  return __bfloat162float(__float2bfloat16_rn(value));
}

__device__ inline Three three_of(float value) {
  Three three = {};
  three.high = rounded(value);
  three.middle = rounded(value - three.high);
  three.low = rounded(value - three.high - three.middle);
  return three;
}

__global__ void multiply_split(Call call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float large = 0;
  float small = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    const Three w = three_of(row[j]);
    const Three x = three_of(call.x[j]);
    large = fmaf(w.high, x.high, large);
    small += w.high * x.middle + w.middle * x.high;
    small += w.high * x.low + w.middle * x.middle + w.low * x.high;
  }
  const float sum = block_sum(large + small);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply_split<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
