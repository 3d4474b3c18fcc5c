// kp:compiler nvcc
// kp:options -O3
// A thread for each query keeps it and its output in registers; the block's keys and values come
// from shared memory, KEYS at a time, and the softmax goes along. Up to 128 coordinates.
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128
constexpr int BLOCK = 64;
// kp:tune KEYS = 4 8 16
constexpr int KEYS = 8;
constexpr int most_coordinates = 128;

// WIDTH: coordinates padded with zeros, a multiple of 4.
template <int WIDTH>
struct Tiles {
  float4 keys[KEYS][WIDTH / 4];
  float4 values[KEYS][WIDTH / 4];
};

template <int WIDTH>
__device__ void fetch(int64_t n, int64_t d, int64_t first, const float* __restrict__ keys,
                      const float* __restrict__ values, Tiles<WIDTH>& tiles) {
  auto* key = reinterpret_cast<float*>(tiles.keys);
  auto* value = reinterpret_cast<float*>(tiles.values);
  for (int at = static_cast<int>(threadIdx.x); at < KEYS * WIDTH; at += BLOCK) {
    const int64_t j = first + at / WIDTH;
    const int64_t c = at % WIDTH;
    const bool real = j < n && c < d;
    key[at] = real ? keys[j * d + c] : 0.0F;
    value[at] = real ? values[j * d + c] : 0.0F;
  }
}

template <int WIDTH>
__device__ float score_of(const float* query, const float4* key) {
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < WIDTH / 4; ++c) {
    const float4 part = key[c];
    sum += query[4 * c] * part.x + query[4 * c + 1] * part.y + query[4 * c + 2] * part.z +
           query[4 * c + 3] * part.w;
  }
  return sum;
}

template <int WIDTH>
__device__ void add_value(float weight, const float4* value, float* output) {
#pragma unroll
  for (int c = 0; c < WIDTH / 4; ++c) {
    const float4 part = value[c];
    output[4 * c] += weight * part.x;
    output[4 * c + 1] += weight * part.y;
    output[4 * c + 2] += weight * part.z;
    output[4 * c + 3] += weight * part.w;
  }
}

template <int WIDTH>
__global__ void __launch_bounds__(BLOCK)
    attention(int64_t n, int64_t d, float scale, const float* __restrict__ Q,
              const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O) {
  __shared__ Tiles<WIDTH> tiles;
  const int64_t head = blockIdx.y * n * d;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  float query[WIDTH];
  float output[WIDTH] = {};
#pragma unroll
  for (int c = 0; c < WIDTH; ++c) {
    query[c] = i < n && c < d ? Q[head + i * d + c] : 0.0F;
  }
  float largest = -INFINITY;
  float total = 0.0F;
  for (int64_t first = 0; first < n; first += KEYS) {
    fetch<WIDTH>(n, d, first, K + head, V + head, tiles);
    __syncthreads();
    float scores[KEYS];
    float highest = largest;
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
      scores[u] = first + u < n ? score_of<WIDTH>(query, tiles.keys[u]) * scale : -INFINITY;
      highest = fmaxf(highest, scores[u]);
    }
    const float shrink = expf(largest - highest);
    largest = highest;
    total *= shrink;
#pragma unroll
    for (int c = 0; c < WIDTH; ++c) {
      output[c] *= shrink;
    }
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
      const float weight = expf(scores[u] - largest);
      total += weight;
      add_value<WIDTH>(weight, tiles.values[u], output);
    }
    __syncthreads();
  }
#pragma unroll
  for (int c = 0; c < WIDTH; ++c) {
    if (i < n && c < d) {
      O[head + i * d + c] = output[c] / total;
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  if (count != 4 || d > most_coordinates) {
    return 1;
  }
  if (heads == 0 || n == 0 || d == 0) {
    return 0;
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  const dim3 blocks(static_cast<unsigned>((n + BLOCK - 1) / BLOCK), static_cast<unsigned>(heads));
  auto* const kernel = d <= 64 ? &attention<64> : &attention<128>;
  kernel<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, d, scale, static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
