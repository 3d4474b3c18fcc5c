// One thread for each element; reads are contiguous, writes are a column apart.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK_X = 8 16 32 64
constexpr int BLOCK_X = 32;
// kp:tune BLOCK_Y = 2 4 8 16
constexpr int BLOCK_Y = 8;

__global__ void transpose(int64_t rows, int64_t cols, const float* A, float* B) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * BLOCK_X + threadIdx.x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * BLOCK_Y + threadIdx.y;
  if (i < rows && j < cols) {
    B[j * rows + i] = A[i * cols + j];
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
  const dim3 blocks(static_cast<unsigned>((cols + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>((rows + BLOCK_Y - 1) / BLOCK_Y));
  const dim3 threads(BLOCK_X, BLOCK_Y);
  transpose<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
