// One thread for each element of C.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK_X = 8 16 32 64
constexpr int BLOCK_X = 16;
// kp:tune BLOCK_Y = 2 4 8 16
constexpr int BLOCK_Y = 16;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* A, const float* B,
                     float* C) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * BLOCK_X + threadIdx.x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * BLOCK_Y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0F;
#pragma unroll UNROLL
    for (int64_t p = 0; p < k; ++p) {
      sum += A[i * k + p] * B[p * n + j];
    }
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
  const dim3 blocks(static_cast<unsigned>((n + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>((m + BLOCK_Y - 1) / BLOCK_Y));
  const dim3 threads(BLOCK_X, BLOCK_Y);
  gemm<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[2], static_cast<float>(context->scalars[0]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
