// kp:compiler nvcc
// kp:options -O3
// 16 x 16 threads compute a tile of distances, PER points by PER centroids each, from shared
// memory. Each keeps the nearest it has seen; at the end the 16 threads of a point compare.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune PER = 2 4 6
constexpr int PER = 4;
// kp:tune DEPTH = 8 16 32
constexpr int DEPTH = 16;
constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int TILE = SIDE * PER;

struct Tiles {
  float points[DEPTH][TILE + 1];
  float centroids[DEPTH][TILE + 1];
};

// Rows from `row` on, coordinates from `first` on; 0 where there is none.
__device__ void fetch(int64_t rows, int64_t d, int64_t row, int64_t first,
                      const float* __restrict__ from, float (*to)[TILE + 1]) {
  for (int at = static_cast<int>(threadIdx.x); at < TILE * DEPTH; at += THREADS) {
    const int i = at / DEPTH;
    const int j = at % DEPTH;
    to[j][i] = row + i < rows && first + j < d ? from[(row + i) * d + first + j] : 0.0F;
  }
}

__device__ void add_distances(const Tiles& tiles, int x, int y, float (*sums)[PER]) {
#pragma unroll
  for (int j = 0; j < DEPTH; ++j) {
    float centroid[PER];
#pragma unroll
    for (int v = 0; v < PER; ++v) {
      centroid[v] = tiles.centroids[j][x + v * SIDE];
    }
#pragma unroll
    for (int u = 0; u < PER; ++u) {
      const float point = tiles.points[j][y + u * SIDE];
#pragma unroll
      for (int v = 0; v < PER; ++v) {
        const float difference = point - centroid[v];
        sums[u][v] += difference * difference;
      }
    }
  }
}

struct Nearest {
  float distance;
  int32_t label;  // -1: none yet
};

__device__ Nearest nearer(Nearest a, Nearest b) {
  return a.label < 0 || (b.label >= 0 && b.distance < a.distance) ? b : a;
}

__global__ void assign(int64_t n, int64_t k, int64_t d, const float* __restrict__ points,
                       const float* __restrict__ centroids, int32_t* __restrict__ labels) {
  __shared__ Tiles tiles;
  const int x = static_cast<int>(threadIdx.x) % SIDE;
  const int y = static_cast<int>(threadIdx.x) / SIDE;
  const int64_t point = static_cast<int64_t>(blockIdx.x) * TILE;
  Nearest best[PER];
  for (int u = 0; u < PER; ++u) {
    best[u] = {0.0F, -1};
  }
  for (int64_t centroid = 0; centroid < k; centroid += TILE) {
    float sums[PER][PER] = {};
    for (int64_t first = 0; first < d; first += DEPTH) {
      fetch(n, d, point, first, points, tiles.points);
      fetch(k, d, centroid, first, centroids, tiles.centroids);
      __syncthreads();
      add_distances(tiles, x, y, sums);
      __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < PER; ++u) {
#pragma unroll
      for (int v = 0; v < PER; ++v) {
        const int64_t c = centroid + x + v * SIDE;
        const Nearest found = {sums[u][v], c < k ? static_cast<int32_t>(c) : -1};
        best[u] = nearer(best[u], found);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < PER; ++u) {
    for (int offset = SIDE / 2; offset > 0; offset /= 2) {
      const Nearest other = {__shfl_xor_sync(0xffffffffU, best[u].distance, offset),
                             __shfl_xor_sync(0xffffffffU, best[u].label, offset)};
      best[u] = nearer(best[u], other);
    }
    const int64_t i = point + y + u * SIDE;
    if (x == 0 && i < n) {
      labels[i] = best[u].label;
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
  const auto blocks = static_cast<unsigned>((n + TILE - 1) / TILE);
  assign<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, context->axes[1], context->axes[2], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<int32_t*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
