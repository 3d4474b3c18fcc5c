// kp:compiler nvcc
// kp:options -O3
// LANES threads share a column of Y, each takes whole groups of 32 weights by one load of 16 bytes.
// The rows of X lie in shared memory as floats, GROUPS groups at a time, for all columns of a
// block.
#include <cuda_fp16.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune ROWS = 2 4 8
constexpr int ROWS = 8;
// kp:tune BLOCK = 128 256 512
constexpr int BLOCK = 256;
constexpr int LANES = 8;
constexpr int GROUPS = 8;
constexpr int COLUMNS = BLOCK / LANES;
// One more than a group, so that the lanes' groups begin in different banks.
constexpr int STRIDE = 33;

__device__ void fetch(int64_t m, int64_t k, int64_t row, int64_t first,
                      const __half* __restrict__ X, float (*rows)[GROUPS * STRIDE]) {
  for (int at = static_cast<int>(threadIdx.x); at < ROWS * GROUPS * 32; at += BLOCK) {
    const int r = at / (GROUPS * 32);
    const int p = at % (GROUPS * 32);
    const bool real = row + r < m && first + p < k;
    rows[r][p / 32 * STRIDE + p % 32] = real ? __half2float(X[(row + r) * k + first + p]) : 0.0F;
  }
}

__global__ void w4a16_gemm(int64_t m, int64_t n, int64_t k, const __half* __restrict__ X,
                           const uint8_t* __restrict__ W, const __half* __restrict__ scales,
                           float* __restrict__ Y) {
  __shared__ float rows[ROWS][GROUPS * STRIDE];
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int64_t j = static_cast<int64_t>(blockIdx.x) * COLUMNS + threadIdx.x / LANES;
  const int64_t row = static_cast<int64_t>(blockIdx.y) * ROWS;
  const int64_t groups = k / 32;
  float sums[ROWS] = {};
  for (int64_t first = 0; first < groups; first += GROUPS) {
    fetch(m, k, row, first * 32, X, rows);
    __syncthreads();
    if (j < n && first + lane < groups) {
      const int64_t group = j * groups + first + lane;
      const uint4 packed = reinterpret_cast<const uint4*>(W)[group];
      const float scale = __half2float(scales[group]);
      const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
      float partial[ROWS] = {};
#pragma unroll
      for (int p = 0; p < 32; ++p) {
        const float weight =
            static_cast<float>(static_cast<int>(words[p / 8] >> (p % 8 * 4) & 15U) - 8);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          partial[r] += rows[r][lane * STRIDE + p] * weight;
        }
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        sums[r] += partial[r] * scale;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
      sums[r] += __shfl_xor_sync(0xffffffffU, sums[r], offset);
    }
    if (lane == 0 && j < n && row + r < m) {
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
  const dim3 blocks(static_cast<unsigned>((n + COLUMNS - 1) / COLUMNS),
                    static_cast<unsigned>((m + ROWS - 1) / ROWS));
  w4a16_gemm<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[3], static_cast<const __half*>(tensors[0].data),
      static_cast<const uint8_t*>(tensors[1].data), static_cast<const __half*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
