// kp:compiler nvcc
// kp:options -O3
// LANES neighboring threads share a row, so that its entries are read contiguously.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune LANES = 2 4 8 16 32
constexpr int LANES = 8;
// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
constexpr int ROWS = BLOCK / LANES;

__global__ void spmv(int64_t rows, const int32_t* __restrict__ row_ptr,
                     const int32_t* __restrict__ columns, const float* __restrict__ values,
                     const float* __restrict__ x, float* __restrict__ y) {
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / LANES;
  // Threads beyond the last row stay for the shuffles of their warp.
  const int32_t begin = i < rows ? row_ptr[i] : 0;
  const int32_t end = i < rows ? row_ptr[i + 1] : 0;
  float sum = 0.0F;
  for (int32_t p = begin + lane; p < end; p += LANES) {
    sum += values[p] * x[columns[p]];
  }
  for (int offset = LANES / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  }
  if (lane == 0 && i < rows) {
    y[i] = sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  if (rows == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((rows + ROWS - 1) / ROWS);
  spmv<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, static_cast<const int32_t*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<const float*>(tensors[3].data), static_cast<float*>(tensors[4].data));
  return cudaGetLastError() != cudaSuccess;
}
