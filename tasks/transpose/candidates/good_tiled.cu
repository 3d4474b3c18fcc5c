// kp:compiler nvcc
// kp:options -O3
// A tile goes through shared memory, so that reads and writes are both contiguous. The extra column
// puts the elements of a column of the tile into different banks.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int TILE = 32;
// kp:tune ROWS = 4 8 16 32
constexpr int ROWS = 8;

__global__ void transpose(int64_t rows, int64_t cols, const float* __restrict__ A,
                          float* __restrict__ B) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = static_cast<int>(threadIdx.x);
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE;
#pragma unroll
  for (int y = static_cast<int>(threadIdx.y); y < TILE; y += ROWS) {
    if (row + y < rows && column + x < cols) {
      tile[y][x] = A[(row + y) * cols + column + x];
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = static_cast<int>(threadIdx.y); y < TILE; y += ROWS) {
    if (column + y < cols && row + x < rows) {
      B[(column + y) * rows + row + x] = tile[x][y];
    }
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
  const dim3 blocks(static_cast<unsigned>((cols + TILE - 1) / TILE),
                    static_cast<unsigned>((rows + TILE - 1) / TILE));
  const dim3 threads(TILE, ROWS);
  transpose<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
