// kp:compiler nvcc
// kp:options -O3
// A block computes a tile of one expert's rows from tiles in shared memory. There are as many
// blocks as the groups could need at most; those left over have nothing to do.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune TILE = 16 32
constexpr int TILE = 16;

// The rows [first, end) of the tile's group that the tile begins at; none: expert = experts.
struct Place {
  int64_t expert;
  int64_t first;
  int64_t end;
};

__device__ Place place_of(int64_t tile, int64_t experts, const int32_t* __restrict__ offsets) {
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t tiles = (offsets[e + 1] - offsets[e] + TILE - 1) / TILE;
    if (tile < tiles) {
      return {e, offsets[e] + tile * TILE, offsets[e + 1]};
    }
    tile -= tiles;
  }
  return {experts, 0, 0};
}

__global__ void moe_grouped_gemm(int64_t experts, int64_t k, int64_t n, const float* __restrict__ X,
                                 const int32_t* __restrict__ offsets, const float* __restrict__ W,
                                 float* __restrict__ Y) {
  __shared__ float a[TILE][TILE];
  __shared__ float b[TILE][TILE];
  const Place place = place_of(blockIdx.y, experts, offsets);
  if (place.expert == experts) {
    return;
  }
  const float* weights = W + place.expert * k * n;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int64_t j = static_cast<int64_t>(blockIdx.x) * TILE + x;
  const int64_t i = place.first + y;
  float sum = 0.0F;
  for (int64_t first = 0; first < k; first += TILE) {
    a[y][x] = i < place.end && first + x < k ? X[i * k + first + x] : 0.0F;
    b[y][x] = first + y < k && j < n ? weights[(first + y) * n + j] : 0.0F;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < TILE; ++p) {
      sum += a[y][p] * b[p][x];
    }
    __syncthreads();
  }
  if (i < place.end && j < n) {
    Y[i * n + j] = sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t tokens = context->axes[0];
  const int64_t experts = context->axes[1];
  const int64_t n = context->axes[3];
  if (tokens == 0 || n == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((n + TILE - 1) / TILE),
                    static_cast<unsigned>(tokens / TILE + experts));
  const dim3 threads(TILE, TILE);
  moe_grouped_gemm<<<blocks, threads, 0, static_cast<cudaStream_t>(context->stream)>>>(
      experts, context->axes[2], n, static_cast<const float*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
