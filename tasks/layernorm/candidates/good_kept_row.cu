// kp:compiler nvcc
// kp:options -O3
// A block for each row. What fits of the row stays in registers, so memory is read once; the rest
// of a longer row is read again in each pass.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 128 256 512
constexpr int BLOCK = 256;
// kp:tune KEPT = 4 8 16 32
constexpr int KEPT = 16;
constexpr int WARPS = BLOCK / 32;

// The sum of all threads' values, in every thread. `partial` is free again afterwards.
__device__ float block_sum(float value, float* partial) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float sum = 0.0F;
  for (int i = 0; i < WARPS; ++i) {
    sum += partial[i];
  }
  __syncthreads();
  return sum;
}

__global__ void layernorm(int64_t cols, float epsilon, const float* __restrict__ x,
                          const float* __restrict__ gain, const float* __restrict__ bias,
                          float* __restrict__ y) {
  __shared__ float partial[WARPS];
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  const auto n = static_cast<float>(cols);
  const int64_t thread = threadIdx.x;
  constexpr int64_t kept_end = static_cast<int64_t>(KEPT) * BLOCK;
  float kept[KEPT];
  float sum = 0.0F;
#pragma unroll
  for (int u = 0; u < KEPT; ++u) {
    const int64_t j = u * BLOCK + thread;
    kept[u] = j < cols ? in[j] : 0.0F;
    sum += kept[u];
  }
  for (int64_t j = kept_end + thread; j < cols; j += BLOCK) {
    sum += in[j];
  }
  const float mean = block_sum(sum, partial) / n;
  float squares = 0.0F;
#pragma unroll
  for (int u = 0; u < KEPT; ++u) {
    const float difference = u * BLOCK + thread < cols ? kept[u] - mean : 0.0F;
    squares += difference * difference;
  }
  for (int64_t j = kept_end + thread; j < cols; j += BLOCK) {
    const float difference = in[j] - mean;
    squares += difference * difference;
  }
  const float scale = 1.0F / sqrtf(block_sum(squares, partial) / n + epsilon);
#pragma unroll
  for (int u = 0; u < KEPT; ++u) {
    const int64_t j = u * BLOCK + thread;
    if (j < cols) {
      out[j] = (kept[u] - mean) * scale * gain[j] + bias[j];
    }
  }
  for (int64_t j = kept_end + thread; j < cols; j += BLOCK) {
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
  layernorm<<<static_cast<unsigned>(rows), BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      cols, static_cast<float>(context->scalars[0]), static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
