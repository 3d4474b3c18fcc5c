// kp:compiler nvcc
// kp:options -O3
// A warp reads one row together, so its loads are contiguous; the lanes' sums meet by shuffles.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
// kp:tune UNROLL = 1 2 4 8
constexpr int UNROLL = 4;
constexpr int ROWS = BLOCK / 32;

__global__ void gemv(int64_t m, int64_t n, const float* __restrict__ A, const float* __restrict__ x,
                     float* __restrict__ y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / 32;
  if (i >= m) {
    return;
  }
  const float* row = A + i * n;
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t j = threadIdx.x % 32; j < n; j += 32) {
    sum += row[j] * x[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    y[i] = sum;
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
  const auto blocks = static_cast<unsigned>((m + ROWS - 1) / ROWS);
  gemv<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, context->axes[1], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
