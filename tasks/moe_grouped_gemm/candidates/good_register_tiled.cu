// kp:compiler nvcc
// kp:options -O3
// Tiles of one expert's rows as in a matrix product with registers: each of 16 x 16 threads keeps
// PER x PER results, 16 apart. There are as many blocks as the groups could need at most; those
// left over have nothing to do.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune PER = 2 4 6 8
constexpr int PER = 4;
// kp:tune DEPTH = 8 16 32
constexpr int DEPTH = 16;
constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int TILE = SIDE * PER;

struct Tiles {
  float a[DEPTH][TILE + 1];  // transposed; the extra column spreads the stores over the banks
  float b[DEPTH][TILE];
};

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

__device__ void fetch(const Place& place, int64_t n, int64_t k, int64_t column, int64_t first,
                      const float* __restrict__ X, const float* __restrict__ weights,
                      Tiles& tiles) {
  for (int at = static_cast<int>(threadIdx.x); at < TILE * DEPTH; at += THREADS) {
    const int p = at % DEPTH;
    const int64_t i = place.first + at / DEPTH;
    tiles.a[p][at / DEPTH] = i < place.end && first + p < k ? X[i * k + first + p] : 0.0F;
  }
  for (int at = static_cast<int>(threadIdx.x); at < TILE * DEPTH; at += THREADS) {
    const int j = at % TILE;
    const int p = at / TILE;
    const bool real = first + p < k && column + j < n;
    tiles.b[p][j] = real ? weights[(first + p) * n + column + j] : 0.0F;
  }
}

__device__ void add_products(const Tiles& tiles, int x, int y, float (*sums)[PER]) {
#pragma unroll
  for (int p = 0; p < DEPTH; ++p) {
    float b[PER];
#pragma unroll
    for (int v = 0; v < PER; ++v) {
      b[v] = tiles.b[p][x + v * SIDE];
    }
#pragma unroll
    for (int u = 0; u < PER; ++u) {
      const float a = tiles.a[p][y + u * SIDE];
#pragma unroll
      for (int v = 0; v < PER; ++v) {
        sums[u][v] += a * b[v];
      }
    }
  }
}

__global__ void __launch_bounds__(THREADS)
    moe_grouped_gemm(int64_t experts, int64_t k, int64_t n, const float* __restrict__ X,
                     const int32_t* __restrict__ offsets, const float* __restrict__ W,
                     float* __restrict__ Y) {
  __shared__ Tiles tiles;
  const Place place = place_of(blockIdx.y, experts, offsets);
  if (place.expert == experts) {
    return;
  }
  const int x = static_cast<int>(threadIdx.x) % SIDE;
  const int y = static_cast<int>(threadIdx.x) / SIDE;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * TILE;
  float sums[PER][PER] = {};
  for (int64_t first = 0; first < k; first += DEPTH) {
    fetch(place, n, k, column, first, X, W + place.expert * k * n, tiles);
    __syncthreads();
    add_products(tiles, x, y, sums);
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < PER; ++u) {
#pragma unroll
    for (int v = 0; v < PER; ++v) {
      const int64_t i = place.first + y + u * SIDE;
      const int64_t j = column + x + v * SIDE;
      if (i < place.end && j < n) {
        Y[i * n + j] = sums[u][v];
      }
    }
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
  moe_grouped_gemm<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      experts, context->axes[2], n, static_cast<const float*>(tensors[0].data),
      static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
