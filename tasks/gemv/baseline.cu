// One thread for each row.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128 256 512
constexpr int BLOCK = 128;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void gemv(int64_t m, int64_t n, const float* A, const float* x, float* y) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (i < m) {
    float sum = 0.0F;
#pragma unroll UNROLL
    for (int64_t j = 0; j < n; ++j) {
      sum += A[i * n + j] * x[j];
    }
    y[i] = sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  if (m == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((m + BLOCK - 1) / BLOCK);
  gemv<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, context->axes[1], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
