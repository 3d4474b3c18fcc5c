// kp:compiler nvcc
// kp:options -O3
// A warp for each row: sums by shuffles, no block-wide waits.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128 256
constexpr int BLOCK = 128;
// kp:tune UNROLL = 1 4 8
constexpr int UNROLL = 4;
constexpr int ROWS = BLOCK / 32;

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, offset);
  }
  return value;
}

__global__ void layernorm(int64_t rows, int64_t cols, float epsilon, const float* __restrict__ x,
                          const float* __restrict__ gain, const float* __restrict__ bias,
                          float* __restrict__ y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / 32;
  if (row >= rows) {
    return;
  }
  const int64_t lane = threadIdx.x % 32;
  const float* in = x + row * cols;
  float* out = y + row * cols;
  const auto n = static_cast<float>(cols);
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t j = lane; j < cols; j += 32) {
    sum += in[j];
  }
  const float mean = warp_sum(sum) / n;
  float squares = 0.0F;
#pragma unroll UNROLL
  for (int64_t j = lane; j < cols; j += 32) {
    const float difference = in[j] - mean;
    squares += difference * difference;
  }
  const float scale = 1.0F / sqrtf(warp_sum(squares) / n + epsilon);
#pragma unroll UNROLL
  for (int64_t j = lane; j < cols; j += 32) {
    out[j] = (in[j] - mean) * scale * gain[j] + bias[j];
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  if (rows == 0 || cols == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((rows + ROWS - 1) / ROWS);
  layernorm<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<float>(context->scalars[0]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
