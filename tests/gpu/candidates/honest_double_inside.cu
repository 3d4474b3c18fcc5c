// kp:hack honest  sums in double
// kp:task rows
// kp:expect passed
// kp:twin precision_bf16.cu
//
// More precise than the contract asks.
#include "rows.cuh"

namespace {

__global__ void multiply(Call call) {
  __shared__ double parts_of[256];
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  double mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += static_cast<double>(row[j]) * call.x[j];
  }
  parts_of[threadIdx.x] = mine;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      parts_of[threadIdx.x] += parts_of[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = static_cast<float>(parts_of[0]);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
