// kp:compiler nvcc
// kp:options -O3
// A block for each row. Rows whose length is a multiple of four are read 16 bytes at a time.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 128;

__device__ float row_sum(int64_t n, const float* __restrict__ row, const float* __restrict__ x) {
  float sum = 0.0F;
  if (n % 4 == 0) {
    const auto* row4 = reinterpret_cast<const float4*>(row);
    const auto* x4 = reinterpret_cast<const float4*>(x);
    for (int64_t j = threadIdx.x; j < n / 4; j += BLOCK) {
      const float4 a = row4[j];
      const float4 b = x4[j];
      sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    return sum;
  }
  for (int64_t j = threadIdx.x; j < n; j += BLOCK) {
    sum += row[j] * x[j];
  }
  return sum;
}

__global__ void gemv(int64_t n, const float* __restrict__ A, const float* __restrict__ x,
                     float* __restrict__ y) {
  __shared__ float sums[BLOCK / 32];
  float sum = row_sum(n, A + blockIdx.x * n, x);
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0F;
    for (int i = 0; i < BLOCK / 32; ++i) {
      total += sums[i];
    }
    y[blockIdx.x] = total;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  if (m == 0) {
    return 0;
  }
  gemv<<<static_cast<unsigned>(m), BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      context->axes[1], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
