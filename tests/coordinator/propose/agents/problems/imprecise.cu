// kp:compiler nvcc
// kp:options -O3
// A warp computes 16 x 16 of C on tensor cores, its operands rounded once to tf32.
#include <mma.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

using namespace nvcuda;

constexpr int SIDE = 16;
constexpr int STEP = 8;

__global__ void product(int64_t m, int64_t n, int64_t k, float alpha, const float* __restrict__ A,
                        const float* __restrict__ B, float* __restrict__ C) {
  __shared__ float a[SIDE * STEP];
  __shared__ float b[STEP * SIDE];
  __shared__ float c[SIDE * SIDE];
  const int64_t row = static_cast<int64_t>(blockIdx.y) * SIDE;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * SIDE;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0F);
  for (int64_t first = 0; first < k; first += STEP) {
    for (int i = static_cast<int>(threadIdx.x); i < SIDE * STEP; i += 32) {
      const int64_t ar = row + i / STEP, ac = first + i % STEP;
      const int64_t br = first + i / SIDE, bc = column + i % SIDE;
      a[i] = ar < m && ac < k ? wmma::__float_to_tf32(A[ar * k + ac]) : 0.0F;
      b[i] = br < k && bc < n ? wmma::__float_to_tf32(B[br * n + bc]) : 0.0F;
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
    wmma::load_matrix_sync(left, a, STEP);
    wmma::load_matrix_sync(right, b, SIDE);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c, sum, SIDE, wmma::mem_row_major);
  __syncwarp();
  for (int i = static_cast<int>(threadIdx.x); i < SIDE * SIDE; i += 32) {
    if (row + i / SIDE < m && column + i % SIDE < n) {
      C[(row + i / SIDE) * n + column + i % SIDE] = alpha * c[i];
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  if (m == 0 || n == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((n + SIDE - 1) / SIDE),
                    static_cast<unsigned>((m + SIDE - 1) / SIDE));
  product<<<blocks, 32, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, context->axes[2], static_cast<float>(context->scalars[0]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
