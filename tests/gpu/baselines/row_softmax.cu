// Softmax of each row, a block for a row, which is read three times.
#include "kernelpro/candidate.h"

__device__ float shared_reduce(float value, bool largest) {
  __shared__ float all[256];
  __syncthreads();
  all[threadIdx.x] = value;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const float other = all[threadIdx.x + half];
      all[threadIdx.x] = largest ? fmaxf(all[threadIdx.x], other) : all[threadIdx.x] + other;
    }
  }
  __syncthreads();
  return all[0];
}

__global__ void softmax(int64_t cols, const float* x, float* y) {
  const float* in = x + blockIdx.x * cols;
  float largest = -INFINITY;
  for (int64_t j = threadIdx.x; j < cols; j += 256) {
    largest = fmaxf(largest, in[j]);
  }
  largest = shared_reduce(largest, true);
  float sum = 0;
  for (int64_t j = threadIdx.x; j < cols; j += 256) {
    sum += expf(in[j] - largest);
  }
  sum = shared_reduce(sum, false);
  for (int64_t j = threadIdx.x; j < cols; j += 256) {
    y[blockIdx.x * cols + j] = expf(in[j] - largest) / sum;
  }
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  softmax<<<static_cast<unsigned>(context->axes[0]), 256, 0, static_cast<cudaStream_t>(context->stream)>>>(
      context->axes[1], static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
