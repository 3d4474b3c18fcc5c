// kp:compiler nvcc
// kp:options -O3
// A block for each document, a thread for each of its tokens. QUERIES query tokens at a time, DEPTH
// coordinates at a time, come from shared memory; their dot products stay in registers.
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune QUERIES = 4 8 16 32
constexpr int QUERIES = 16;
constexpr int DEPTH = 16;
constexpr int WARPS = BLOCK / 32;

struct Tiles {
  float tokens[BLOCK][DEPTH + 1];
  float queries[DEPTH][QUERIES];
  float largest[WARPS][QUERIES];
};

// Coordinates beyond d are 0 in both and add nothing.
__device__ void fetch(int64_t query_tokens, int64_t tokens, int64_t d, int64_t q, int64_t t,
                      int64_t first, const float* __restrict__ query,
                      const float* __restrict__ document, Tiles& tiles) {
  for (int at = static_cast<int>(threadIdx.x); at < BLOCK * DEPTH; at += BLOCK) {
    const int i = at / DEPTH;
    const int j = at % DEPTH;
    const bool real = t + i < tokens && first + j < d;
    tiles.tokens[i][j] = real ? document[(t + i) * d + first + j] : 0.0F;
  }
  for (int at = static_cast<int>(threadIdx.x); at < QUERIES * DEPTH; at += BLOCK) {
    const int i = at / DEPTH;
    const int j = at % DEPTH;
    const bool real = q + i < query_tokens && first + j < d;
    tiles.queries[j][i] = real ? query[(q + i) * d + first + j] : 0.0F;
  }
}

// The largest of all threads' values for each query, left in tiles.largest[0].
__device__ void reduce(float* best, Tiles& tiles) {
  for (int i = 0; i < QUERIES; ++i) {
    for (int offset = 16; offset > 0; offset /= 2) {
      best[i] = fmaxf(best[i], __shfl_xor_sync(0xffffffffU, best[i], offset));
    }
    if (threadIdx.x % 32 == 0) {
      tiles.largest[threadIdx.x / 32][i] = best[i];
    }
  }
  __syncthreads();
  if (threadIdx.x < QUERIES) {
    for (int i = 1; i < WARPS; ++i) {
      tiles.largest[0][threadIdx.x] =
          fmaxf(tiles.largest[0][threadIdx.x], tiles.largest[i][threadIdx.x]);
    }
  }
  __syncthreads();
}

__global__ void maxsim(int64_t query_tokens, int64_t tokens, int64_t d,
                       const float* __restrict__ query, const float* __restrict__ documents,
                       float* __restrict__ score) {
  __shared__ Tiles tiles;
  const float* document = documents + blockIdx.x * tokens * d;
  float total = 0.0F;
  for (int64_t q = 0; q < query_tokens; q += QUERIES) {
    float best[QUERIES];
    for (int i = 0; i < QUERIES; ++i) {
      best[i] = -INFINITY;
    }
    for (int64_t t = 0; t < tokens; t += BLOCK) {
      float sums[QUERIES] = {};
      for (int64_t first = 0; first < d; first += DEPTH) {
        fetch(query_tokens, tokens, d, q, t, first, query, document, tiles);
        __syncthreads();
        for (int j = 0; j < DEPTH; ++j) {
          const float value = tiles.tokens[threadIdx.x][j];
#pragma unroll
          for (int i = 0; i < QUERIES; ++i) {
            sums[i] += value * tiles.queries[j][i];
          }
        }
        __syncthreads();
      }
#pragma unroll
      for (int i = 0; i < QUERIES; ++i) {
        best[i] = t + threadIdx.x < tokens ? fmaxf(best[i], sums[i]) : best[i];
      }
    }
    reduce(best, tiles);
    for (int i = 0; i < QUERIES && q + i < query_tokens; ++i) {
      total += tiles.largest[0][i];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    score[blockIdx.x] = total;
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
  maxsim<<<static_cast<unsigned>(axes[1]), BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      axes[0], axes[2], axes[3], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
