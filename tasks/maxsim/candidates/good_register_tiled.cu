// kp:compiler nvcc
// kp:options -O3
// A block for each document. Its 16 x 16 threads compute a tile of dot products, PER_QUERY query
// tokens by PER_TOKEN document tokens each, from shared memory, and keep the largest of each query.
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune PER_QUERY = 1 2 4
constexpr int PER_QUERY = 2;
// kp:tune PER_TOKEN = 2 4 8
constexpr int PER_TOKEN = 4;
// kp:tune DEPTH = 8 16 32
constexpr int DEPTH = 16;
constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int QUERIES = SIDE * PER_QUERY;
constexpr int TOKENS = SIDE * PER_TOKEN;

struct Tiles {
  float queries[DEPTH][QUERIES + 1];
  float tokens[DEPTH][TOKENS + 1];
  float totals[SIDE];
};

// Rows from `row` on, coordinates from `first` on; 0 where there is none.
template <int WIDTH>
__device__ void fetch(int64_t rows, int64_t d, int64_t row, int64_t first,
                      const float* __restrict__ from, float (*to)[WIDTH + 1]) {
  for (int at = static_cast<int>(threadIdx.x); at < WIDTH * DEPTH; at += THREADS) {
    const int i = at / DEPTH;
    const int j = at % DEPTH;
    to[j][i] = row + i < rows && first + j < d ? from[(row + i) * d + first + j] : 0.0F;
  }
}

__device__ void add_products(const Tiles& tiles, int x, int y, float (*sums)[PER_TOKEN]) {
#pragma unroll
  for (int j = 0; j < DEPTH; ++j) {
    float token[PER_TOKEN];
#pragma unroll
    for (int v = 0; v < PER_TOKEN; ++v) {
      token[v] = tiles.tokens[j][x + v * SIDE];
    }
#pragma unroll
    for (int u = 0; u < PER_QUERY; ++u) {
      const float query = tiles.queries[j][y + u * SIDE];
#pragma unroll
      for (int v = 0; v < PER_TOKEN; ++v) {
        sums[u][v] += query * token[v];
      }
    }
  }
}

__global__ void maxsim(int64_t query_tokens, int64_t tokens, int64_t d,
                       const float* __restrict__ query, const float* __restrict__ documents,
                       float* __restrict__ score) {
  __shared__ Tiles tiles;
  const int x = static_cast<int>(threadIdx.x) % SIDE;
  const int y = static_cast<int>(threadIdx.x) / SIDE;
  const float* document = documents + blockIdx.x * tokens * d;
  float total = 0.0F;
  for (int64_t q = 0; q < query_tokens; q += QUERIES) {
    float best[PER_QUERY];
    for (int u = 0; u < PER_QUERY; ++u) {
      best[u] = -INFINITY;
    }
    for (int64_t t = 0; t < tokens; t += TOKENS) {
      float sums[PER_QUERY][PER_TOKEN] = {};
      for (int64_t first = 0; first < d; first += DEPTH) {
        fetch<QUERIES>(query_tokens, d, q, first, query, tiles.queries);
        fetch<TOKENS>(tokens, d, t, first, document, tiles.tokens);
        __syncthreads();
        add_products(tiles, x, y, sums);
        __syncthreads();
      }
#pragma unroll
      for (int u = 0; u < PER_QUERY; ++u) {
#pragma unroll
        for (int v = 0; v < PER_TOKEN; ++v) {
          best[u] = t + x + v * SIDE < tokens ? fmaxf(best[u], sums[u][v]) : best[u];
        }
      }
    }
#pragma unroll
    for (int u = 0; u < PER_QUERY; ++u) {
      for (int offset = SIDE / 2; offset > 0; offset /= 2) {
        best[u] = fmaxf(best[u], __shfl_xor_sync(0xffffffffU, best[u], offset));
      }
      total += q + y + u * SIDE < query_tokens ? best[u] : 0.0F;
    }
  }
  if (x == 0) {
    tiles.totals[y] = total;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0F;
    for (int i = 0; i < SIDE; ++i) {
      sum += tiles.totals[i];
    }
    score[blockIdx.x] = sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  if (axes[1] == 0) {
    return 0;
  }
  auto stream = static_cast<cudaStream_t>(context->stream);
  maxsim<<<static_cast<unsigned>(axes[1]), THREADS, 0, stream>>>(
      axes[0], axes[2], axes[3], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
