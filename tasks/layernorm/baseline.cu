// One block for each row: mean, variance, result, a pass each.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512 1024
constexpr int BLOCK = 256;

// The sum of all threads' values, in every thread.
__device__ float block_sum(float value, float* partial) {
  partial[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
  }
  const float sum = partial[0];
  __syncthreads();
  return sum;
}

__global__ void layernorm(int64_t cols, float epsilon, const float* x, const float* gain,
                          const float* bias, float* y) {
  __shared__ float partial[BLOCK];
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  const auto n = static_cast<float>(cols);
  float sum = 0.0F;
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    sum += in[j];
  }
  const float mean = block_sum(sum, partial) / n;
  float squares = 0.0F;
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    const float difference = in[j] - mean;
    squares += difference * difference;
  }
  const float scale = 1.0F / sqrtf(block_sum(squares, partial) / n + epsilon);
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
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
