// kp:compiler nvcc
// kp:options -O3
// Tiles of several warps' width through shared memory: each row of a tile is WIDTH contiguous
// elements on the way in and HEIGHT on the way out.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune WIDTH = 32 64 128
constexpr int WIDTH = 64;
// kp:tune HEIGHT = 32 64
constexpr int HEIGHT = 64;
// kp:tune BLOCK = 128 256 512
constexpr int BLOCK = 256;

__global__ void transpose(int64_t rows, int64_t cols, const float* __restrict__ A,
                          float* __restrict__ B) {
  __shared__ float tile[HEIGHT][WIDTH + 1];
  const int64_t column = static_cast<int64_t>(blockIdx.x) * WIDTH;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * HEIGHT;
#pragma unroll
  for (int at = static_cast<int>(threadIdx.x); at < HEIGHT * WIDTH; at += BLOCK) {
    const int i = at / WIDTH;
    const int j = at % WIDTH;
    if (row + i < rows && column + j < cols) {
      tile[i][j] = A[(row + i) * cols + column + j];
    }
  }
  __syncthreads();
#pragma unroll
  for (int at = static_cast<int>(threadIdx.x); at < HEIGHT * WIDTH; at += BLOCK) {
    const int j = at / HEIGHT;
    const int i = at % HEIGHT;
    if (row + i < rows && column + j < cols) {
      B[(column + j) * rows + row + i] = tile[i][j];
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
  const dim3 blocks(static_cast<unsigned>((cols + WIDTH - 1) / WIDTH),
                    static_cast<unsigned>((rows + HEIGHT - 1) / HEIGHT));
  transpose<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
