// kp:compiler nvcc
// kp:options -O3
// A warp for each column of Y reads its weights contiguously, eight to a lane, and uses them for
// ROWS rows of X at once. Eight weights lie in one group, so the scale comes last.
#include <cuda_fp16.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune ROWS = 2 4 8 16
constexpr int ROWS = 8;
// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / 32;

__global__ void w4a16_gemm(int64_t m, int64_t n, int64_t k, const __half* __restrict__ X,
                           const uint8_t* __restrict__ W, const __half* __restrict__ scales,
                           float* __restrict__ Y) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * ROWS;
  if (j >= n) {
    return;
  }
  const auto* words = reinterpret_cast<const uint32_t*>(W + j * (k / 2));
  float sums[ROWS] = {};
  for (int64_t at = threadIdx.x % 32; at < k / 8; at += 32) {
    const uint32_t word = words[at];
    const float scale = __half2float(scales[j * (k / 32) + at / 4]);
    float weights[8];
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      weights[p] = static_cast<float>(static_cast<int>(word >> (4 * p) & 15U) - 8);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (row + r < m) {
        const __half* x = X + (row + r) * k + at * 8;
        float sum = 0.0F;
#pragma unroll
        for (int p = 0; p < 8; ++p) {
          sum += __half2float(x[p]) * weights[p];
        }
        sums[r] += sum * scale;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    for (int offset = 16; offset > 0; offset /= 2) {
      sums[r] += __shfl_xor_sync(0xffffffffU, sums[r], offset);
    }
    if (threadIdx.x % 32 == 0 && row + r < m) {
      Y[(row + r) * n + j] = sums[r];
    }
  }
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
  const dim3 blocks(static_cast<unsigned>((n + WARPS - 1) / WARPS),
                    static_cast<unsigned>((m + ROWS - 1) / ROWS));
  w4a16_gemm<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[3], static_cast<const __half*>(tensors[0].data),
      static_cast<const uint8_t*>(tensors[1].data), static_cast<const __half*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
