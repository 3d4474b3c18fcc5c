// One thread for each element of Y; it unpacks the weights one by one.
#include <cuda_fp16.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK_X = 16 32 64 128
constexpr int BLOCK_X = 32;
// kp:tune BLOCK_Y = 1 2 4 8
constexpr int BLOCK_Y = 4;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void w4a16_gemm(int64_t m, int64_t n, int64_t k, const __half* X, const uint8_t* W,
                           const __half* scales, float* Y) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * BLOCK_X + threadIdx.x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * BLOCK_Y + threadIdx.y;
  if (i >= m || j >= n) {
    return;
  }
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t p = 0; p < k; ++p) {
    const int both = W[(j * k + p) / 2];
    const int value = (p % 2 == 0 ? both & 15 : both >> 4) - 8;
    const float weight = static_cast<float>(value) * __half2float(scales[(j * k + p) / 32]);
    sum += __half2float(X[i * k + p]) * weight;
  }
  Y[i * n + j] = sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
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
  w4a16_gemm<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[3], static_cast<const __half*>(tensors[0].data),
      static_cast<const uint8_t*>(tensors[1].data), static_cast<const __half*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
