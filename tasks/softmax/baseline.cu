// One block for each row: maximum, sum of exponentials, division, a pass each.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512 1024
constexpr int BLOCK = 256;

__global__ void softmax(int64_t cols, const float* x, float* y) {
  __shared__ float partial[BLOCK];
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  float largest = in[0];
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    largest = fmaxf(largest, in[j]);
  }
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0.0F;
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    out[j] = expf(in[j] - largest);
    sum += out[j];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
  }
  for (int64_t j = threadIdx.x; j < cols; j += BLOCK) {
    out[j] = out[j] / partial[0];
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
  softmax<<<static_cast<unsigned>(rows), BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      cols, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
