// One thread for each point.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128 256 512
constexpr int BLOCK = 128;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__device__ float squared_distance(int64_t d, const float* a, const float* b) {
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t j = 0; j < d; ++j) {
    const float difference = a[j] - b[j];
    sum += difference * difference;
  }
  return sum;
}

__global__ void assign(int64_t n, int64_t k, int64_t d, const float* points, const float* centroids,
                       int32_t* labels) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float* point = points + i * d;
  int32_t nearest = 0;
  float smallest = squared_distance(d, point, centroids);
  for (int64_t c = 1; c < k; ++c) {
    const float distance = squared_distance(d, point, centroids + c * d);
    if (distance < smallest) {
      smallest = distance;
      nearest = static_cast<int32_t>(c);
    }
  }
  labels[i] = nearest;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t n = context->axes[0];
  if (n == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((n + BLOCK - 1) / BLOCK);
  assign<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, context->axes[1], context->axes[2], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<int32_t*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
