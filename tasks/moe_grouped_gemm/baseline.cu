// One thread for each element of Y; it looks for the expert of its row.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK_X = 16 32 64 128
constexpr int BLOCK_X = 32;
// kp:tune BLOCK_Y = 1 2 4 8
constexpr int BLOCK_Y = 8;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void moe_grouped_gemm(int64_t tokens, int64_t experts, int64_t k, int64_t n,
                                 const float* X, const int32_t* offsets, const float* W, float* Y) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * BLOCK_X + threadIdx.x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * BLOCK_Y + threadIdx.y;
  if (i >= tokens || j >= n) {
    return;
  }
  int64_t e = 0;
  while (e < experts - 1 && i >= offsets[e + 1]) {
    ++e;
  }
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t p = 0; p < k; ++p) {
    sum += X[i * k + p] * W[(e * k + p) * n + j];
  }
  Y[i * n + j] = sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t tokens = context->axes[0];
  const int64_t n = context->axes[3];
  if (tokens == 0 || n == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((n + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>((tokens + BLOCK_Y - 1) / BLOCK_Y));
  const dim3 threads(BLOCK_X, BLOCK_Y);
  moe_grouped_gemm<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      tokens, context->axes[1], context->axes[2], n, static_cast<const float*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
