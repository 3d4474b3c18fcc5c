// kp:compiler nvcc
// kp:options -O3
// A block has BLOCK points and takes CENTROIDS centroids at a time, DEPTH coordinates at a time,
// from shared memory; each thread keeps its point's distances to them in registers.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune CENTROIDS = 4 8 16 32
constexpr int CENTROIDS = 16;
constexpr int DEPTH = 16;

struct Tiles {
  float points[BLOCK][DEPTH + 1];
  float centroids[DEPTH][CENTROIDS];
};

// Coordinates beyond d are 0 in both and add nothing.
__device__ void fetch(int64_t n, int64_t k, int64_t d, int64_t point, int64_t centroid,
                      int64_t first, const float* __restrict__ points,
                      const float* __restrict__ centroids, Tiles& tiles) {
  for (int at = static_cast<int>(threadIdx.x); at < BLOCK * DEPTH; at += BLOCK) {
    const int i = at / DEPTH;
    const int j = at % DEPTH;
    const bool real = point + i < n && first + j < d;
    tiles.points[i][j] = real ? points[(point + i) * d + first + j] : 0.0F;
  }
  for (int at = static_cast<int>(threadIdx.x); at < CENTROIDS * DEPTH; at += BLOCK) {
    const int c = at / DEPTH;
    const int j = at % DEPTH;
    const bool real = centroid + c < k && first + j < d;
    tiles.centroids[j][c] = real ? centroids[(centroid + c) * d + first + j] : 0.0F;
  }
}

__global__ void assign(int64_t n, int64_t k, int64_t d, const float* __restrict__ points,
                       const float* __restrict__ centroids, int32_t* __restrict__ labels) {
  __shared__ Tiles tiles;
  const int64_t point = static_cast<int64_t>(blockIdx.x) * BLOCK;
  int32_t nearest = -1;
  float smallest = 0.0F;
  for (int64_t centroid = 0; centroid < k; centroid += CENTROIDS) {
    float sums[CENTROIDS] = {};
    for (int64_t first = 0; first < d; first += DEPTH) {
      fetch(n, k, d, point, centroid, first, points, centroids, tiles);
      __syncthreads();
      for (int j = 0; j < DEPTH; ++j) {
        const float value = tiles.points[threadIdx.x][j];
#pragma unroll
        for (int c = 0; c < CENTROIDS; ++c) {
          const float difference = value - tiles.centroids[j][c];
          sums[c] += difference * difference;
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int c = 0; c < CENTROIDS; ++c) {
      if (centroid + c < k && (nearest < 0 || sums[c] < smallest)) {
        smallest = sums[c];
        nearest = static_cast<int32_t>(centroid + c);
      }
    }
  }
  if (point + threadIdx.x < n) {
    labels[point + threadIdx.x] = nearest;
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
  const auto blocks = static_cast<unsigned>((n + BLOCK - 1) / BLOCK);
  assign<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, context->axes[1], context->axes[2], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<int32_t*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
