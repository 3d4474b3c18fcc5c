// kp:compiler nvcc
// kp:options -O3
// A fixed number of blocks walks the vector; each thread has UNROLL independent loads in flight.
#include <algorithm>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 128 256 512 1024
constexpr int BLOCK = 256;
// kp:tune UNROLL = 1 2 4 8
constexpr int UNROLL = 4;
// kp:tune MOST_BLOCKS = 1056 2112 4224 8448
constexpr int64_t MOST_BLOCKS = 2112;

__global__ void axpy(int64_t n, float alpha, const float* __restrict__ x,
                     const float* __restrict__ y, float* __restrict__ out) {
  constexpr int64_t chunk = static_cast<int64_t>(BLOCK) * UNROLL;
  for (int64_t first = blockIdx.x * chunk; first < n; first += gridDim.x * chunk) {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int64_t i = first + u * BLOCK + threadIdx.x;
      if (i < n) {
        out[i] = alpha * x[i] + y[i];
      }
    }
  }
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
  constexpr int64_t chunk = static_cast<int64_t>(BLOCK) * UNROLL;
  const auto blocks = static_cast<unsigned>(std::min((n + chunk - 1) / chunk, MOST_BLOCKS));
  axpy<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, static_cast<float>(context->scalars[0]), static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
