// kp:compiler nvcc
// kp:options -O3
// A block for each row. Maximum and sum come from one pass: when the maximum grows, the sum so far
// is scaled down.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 128 256 512 1024
constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

struct Sum {
  float largest;
  float total;  // of exp(value - largest)
};

__device__ Sum joined(Sum a, Sum b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.total * expf(a.largest - largest) + b.total * expf(b.largest - largest)};
}

__device__ Sum over_warp(Sum sum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Sum other = {__shfl_xor_sync(0xffffffffU, sum.largest, offset),
                       __shfl_xor_sync(0xffffffffU, sum.total, offset)};
    sum = joined(sum, other);
  }
  return sum;
}

__global__ void softmax(int64_t cols, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ Sum sums[WARPS];
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  // Every thread starts from a value of the row, so that no difference is of infinities.
  Sum sum = {in[0], 0.0F};
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    const float value = in[j];
    if (value > sum.largest) {
      sum.total *= expf(sum.largest - value);
      sum.largest = value;
    }
    sum.total += expf(value - sum.largest);
  }
  sum = over_warp(sum);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  sum = sums[0];
  for (int i = 1; i < WARPS; ++i) {
    sum = joined(sum, sums[i]);
  }
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    out[j] = expf(in[j] - sum.largest) / sum.total;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  if (rows == 0 || cols == 0) {
    return 0;
  }
  softmax<<<static_cast<unsigned>(rows), BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
