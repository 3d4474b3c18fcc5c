// kp:compiler nvcc
// kp:options -O3 -std=c++17
// C = A B in single precision on tensor cores: each factor is the sum of two of TF32, and three of their four products
// count. Tensor cores cut off when they add, so after every 64 of k their sums move into plain f32 ones.
#include <mma.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace wmma = nvcuda::wmma;

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;  // a block has 64 x 64, each of its four warps 32 x 32
constexpr int LONGEST_SUM = 64;                     // of k in one accumulator
constexpr int A_PITCH = STEP + 8, B_PITCH = TILE + 8;

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

struct Tiles {
  alignas(128) float a[2][TILE][A_PITCH];  // large and small parts
  alignas(128) float b[2][STEP][B_PITCH];
};

__device__ void split(float value, float& large, float& small) {
  large = wmma::__float_to_tf32(value);
  small = wmma::__float_to_tf32(value - large);
}

__global__ void __launch_bounds__(THREADS)
    product(int64_t m, int64_t n, int64_t k, const float* __restrict__ A, const float* __restrict__ B,
            float* __restrict__ C) {
  __shared__ Tiles tiles;
  const int64_t row = blockIdx.y * int64_t{TILE}, column = blockIdx.x * int64_t{TILE};
  const int warp = threadIdx.x / 32, y = warp / 2 * 32, x = warp % 2 * 32;
  Sums total[2][2], large[2][2], small[2][2];
  for (int t = 0; t < 4; ++t) {
    wmma::fill_fragment(total[t / 2][t % 2], 0);
    wmma::fill_fragment(large[t / 2][t % 2], 0);
    wmma::fill_fragment(small[t / 2][t % 2], 0);
  }
  for (int64_t first = 0; first < k; first += STEP) {
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {  // split once, while copying
      const int64_t i = row + e / STEP, p = first + e % STEP, q = first + e / TILE, j = column + e % TILE;
      split(i < m && p < k ? A[i * k + p] : 0, tiles.a[0][e / STEP][e % STEP], tiles.a[1][e / STEP][e % STEP]);
      split(q < k && j < n ? B[q * n + j] : 0, tiles.b[0][e / TILE][e % TILE], tiles.b[1][e / TILE][e % TILE]);
    }
    __syncthreads();
    for (int p = 0; p < STEP; p += 8) {
      Left a[2][2];  // part, rows
      Right b[2][2];
      for (int t = 0; t < 4; ++t) {
        wmma::load_matrix_sync(a[t / 2][t % 2], &tiles.a[t / 2][y + t % 2 * 16][p], A_PITCH);
        wmma::load_matrix_sync(b[t / 2][t % 2], &tiles.b[t / 2][p][x + t % 2 * 16], B_PITCH);
      }
      for (int t = 0; t < 4; ++t) {
        const int i = t / 2, j = t % 2;
        wmma::mma_sync(small[i][j], a[1][i], b[0][j], small[i][j]);
        wmma::mma_sync(small[i][j], a[0][i], b[1][j], small[i][j]);
        wmma::mma_sync(large[i][j], a[0][i], b[0][j], large[i][j]);
      }
    }
    __syncthreads();
    if ((first + STEP) % LONGEST_SUM == 0 || first + STEP >= k) {
      for (int t = 0; t < 4; ++t) {
        for (int e = 0; e < large[0][0].num_elements; ++e) {
          total[t / 2][t % 2].x[e] += large[t / 2][t % 2].x[e] + small[t / 2][t % 2].x[e];
        }
        wmma::fill_fragment(large[t / 2][t % 2], 0);
        wmma::fill_fragment(small[t / 2][t % 2], 0);
      }
    }
  }
  // Results through shared memory, because rows of C may be misaligned and end anywhere.
  float* out = &tiles.a[0][0][0] + warp * 32 * 36;
  for (int t = 0; t < 4; ++t) {
    wmma::store_matrix_sync(out + t / 2 * 16 * 36 + t % 2 * 16, total[t / 2][t % 2], 36, wmma::mem_row_major);
  }
  __syncwarp();
  for (int e = threadIdx.x % 32; e < 32 * 32; e += 32) {
    const int64_t i = row + y + e / 32, j = column + x + e % 32;
    if (i < m && j < n) C[i * n + j] = out[e / 32 * 36 + e % 32];
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t m = context->axes[0], n = context->axes[1], k = context->axes[2];
  if (count != 3 || m == 0 || n == 0) return count != 3;
  const dim3 blocks(static_cast<unsigned>((n + TILE - 1) / TILE), static_cast<unsigned>((m + TILE - 1) / TILE));
  product<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, k, static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
