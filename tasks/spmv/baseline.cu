// One thread for each row.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void spmv(int64_t rows, const int32_t* row_ptr, const int32_t* columns,
                     const float* values, const float* x, float* y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (i < rows) {
    float sum = 0.0F;
#pragma unroll UNROLL
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
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
