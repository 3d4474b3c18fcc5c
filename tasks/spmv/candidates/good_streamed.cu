// kp:compiler nvcc
// kp:options -O3
// A block reads the entries of its rows as one contiguous stream, CHUNK at a time, and leaves the
// products in shared memory; then each thread adds up those of its own row.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune PER_THREAD = 4 8 16 32
constexpr int PER_THREAD = 16;
constexpr int CHUNK = BLOCK * PER_THREAD;

__global__ void spmv(int64_t rows, const int32_t* __restrict__ row_ptr,
                     const int32_t* __restrict__ columns, const float* __restrict__ values,
                     const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float products[CHUNK];
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * BLOCK;
  const int64_t i = first_row + threadIdx.x;
  const int32_t block_end = row_ptr[min(first_row + BLOCK, rows)];
  const int32_t begin = row_ptr[min(i, rows)];
  const int32_t end = row_ptr[min(i + 1, rows)];
  float sum = 0.0F;
  for (int32_t first = row_ptr[first_row]; first < block_end; first += CHUNK) {
    const int32_t last = min(first + CHUNK, block_end);
    for (int32_t p = first + static_cast<int32_t>(threadIdx.x); p < last; p += BLOCK) {
      products[p - first] = values[p] * x[columns[p]];
    }
    __syncthreads();
    for (int32_t p = max(begin, first); p < min(end, last); ++p) {
      sum += products[p - first];
    }
    __syncthreads();
  }
  if (i < rows) {
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
  const auto blocks = static_cast<unsigned>((rows + BLOCK - 1) / BLOCK);
  spmv<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, static_cast<const int32_t*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<const float*>(tensors[3].data), static_cast<float*>(tensors[4].data));
  return cudaGetLastError() != cudaSuccess;
}
