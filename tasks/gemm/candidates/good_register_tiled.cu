// kp:compiler nvcc
// kp:options -O3
// A block computes a tile of C from tiles in shared memory; each of its 16 x 16 threads keeps
// PER x PER results in registers, 16 apart, so that a warp reads shared memory without conflicts.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune PER = 4 6 8
constexpr int PER = 8;
// kp:tune DEPTH = 8 16 32
constexpr int DEPTH = 16;
constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int TILE = SIDE * PER;

struct Tiles {
  float a[DEPTH][TILE + 1];  // transposed; the extra column spreads the stores over the banks
  float b[DEPTH][TILE];
};

__device__ void fetch(int64_t m, int64_t n, int64_t k, int64_t row, int64_t column, int64_t first,
                      const float* __restrict__ A, const float* __restrict__ B, Tiles& tiles) {
  for (int at = static_cast<int>(threadIdx.x); at < TILE * DEPTH; at += THREADS) {
    const int p = at % DEPTH;
    const int i = at / DEPTH;
    tiles.a[p][i] = row + i < m && first + p < k ? A[(row + i) * k + first + p] : 0.0F;
  }
  for (int at = static_cast<int>(threadIdx.x); at < TILE * DEPTH; at += THREADS) {
    const int j = at % TILE;
    const int p = at / TILE;
    tiles.b[p][j] = first + p < k && column + j < n ? B[(first + p) * n + column + j] : 0.0F;
  }
}

__global__ void __launch_bounds__(THREADS)
    gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* __restrict__ A,
         const float* __restrict__ B, float* __restrict__ C) {
  __shared__ Tiles tiles;
  const int x = static_cast<int>(threadIdx.x) % SIDE;
  const int y = static_cast<int>(threadIdx.x) / SIDE;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE;
  float sums[PER][PER] = {};
  for (int64_t first = 0; first < k; first += DEPTH) {
    fetch(m, n, k, row, column, first, A, B, tiles);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < DEPTH; ++p) {
      float b[PER];
#pragma unroll
      for (int v = 0; v < PER; ++v) {
        b[v] = tiles.b[p][x + v * SIDE];
      }
#pragma unroll
      for (int u = 0; u < PER; ++u) {
        const float a = tiles.a[p][y + u * SIDE];
#pragma unroll
        for (int v = 0; v < PER; ++v) {
          sums[u][v] += a * b[v];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < PER; ++u) {
#pragma unroll
    for (int v = 0; v < PER; ++v) {
      const int64_t i = row + y + u * SIDE;
      const int64_t j = column + x + v * SIDE;
      if (i < m && j < n) {
        C[i * n + j] = alpha * sums[u][v];
      }
    }
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
  gemm<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[2], static_cast<float>(context->scalars[0]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
