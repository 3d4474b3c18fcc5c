// kp:compiler nvcc
// kp:options -O3
// A warp for each row: no block-wide waits, and only the result is written.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128 256
constexpr int BLOCK = 128;
constexpr int ROWS = BLOCK / 32;

__global__ void softmax(int64_t rows, int64_t cols, const float* __restrict__ x,
                        float* __restrict__ y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / 32;
  if (row >= rows) {
    return;
  }
  const int64_t lane = threadIdx.x % 32;
  const float* in = x + row * cols;
  float* out = y + row * cols;
  float largest = in[0];
#pragma unroll 4
  for (int64_t j = lane; j < cols; j += 32) {
    largest = fmaxf(largest, in[j]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
  }
  float sum = 0.0F;
#pragma unroll 4
  for (int64_t j = lane; j < cols; j += 32) {
    sum += expf(in[j] - largest);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  }
#pragma unroll 4
  for (int64_t j = lane; j < cols; j += 32) {
    out[j] = expf(in[j] - largest) / sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  if (rows == 0 || cols == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((rows + ROWS - 1) / ROWS);
  softmax<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
