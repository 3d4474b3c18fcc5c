// kp:compiler nvcc
// kp:options -O3
// A block fetches a tile of A and of B into shared memory and uses each value TILE times.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune TILE = 16 32
constexpr int TILE = 32;

__global__ void gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* __restrict__ A,
                     const float* __restrict__ B, float* __restrict__ C) {
  __shared__ float a[TILE][TILE];
  __shared__ float b[TILE][TILE];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int64_t j = static_cast<int64_t>(blockIdx.x) * TILE + x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * TILE + y;
  float sum = 0.0F;
  for (int64_t first = 0; first < k; first += TILE) {
    a[y][x] = i < m && first + x < k ? A[i * k + first + x] : 0.0F;
    b[y][x] = first + y < k && j < n ? B[(first + y) * n + j] : 0.0F;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < TILE; ++p) {
      sum += a[y][p] * b[p][x];
    }
    __syncthreads();
  }
  if (i < m && j < n) {
    C[i * n + j] = alpha * sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  if (m == 0 || n == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((n + TILE - 1) / TILE),
                    static_cast<unsigned>((m + TILE - 1) / TILE));
  const dim3 threads(TILE, TILE);
  gemm<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[2], static_cast<float>(context->scalars[0]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
