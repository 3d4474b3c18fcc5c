// kp:compiler nvcc
// kp:options -O3
// A warp for each query, KEYS keys at a time: the lanes share the coordinates, so keys and values
// are read contiguously, and the softmax goes along, so no score reaches memory. Up to 128
// coordinates.
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune KEYS = 1 2 4 8
constexpr int KEYS = 4;
constexpr int QUERIES = BLOCK / 32;
constexpr int most_coordinates = 128;

// PARTS: how many coordinates a lane has.
template <int PARTS>
__global__ void attention(int64_t heads, int64_t n, int64_t d, float scale,
                          const float* __restrict__ Q, const float* __restrict__ K,
                          const float* __restrict__ V, float* __restrict__ O) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * QUERIES + threadIdx.x / 32;
  if (row >= heads * n) {
    return;
  }
  const int64_t lane = threadIdx.x % 32;
  const int64_t head = row / n * n * d;
  float query[PARTS];
  float output[PARTS] = {};
#pragma unroll
  for (int a = 0; a < PARTS; ++a) {
    const int64_t c = lane + a * 32;
    query[a] = c < d ? Q[row * d + c] : 0.0F;
  }
  float largest = -INFINITY;
  float total = 0.0F;
  for (int64_t first = 0; first < n; first += KEYS) {
    float scores[KEYS];
    float highest = largest;
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
      float sum = 0.0F;
#pragma unroll
      for (int a = 0; a < PARTS; ++a) {
        const int64_t c = lane + a * 32;
        const bool real = first + u < n && c < d;
        sum += real ? query[a] * K[head + (first + u) * d + c] : 0.0F;
      }
      for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, offset);
      }
      scores[u] = first + u < n ? sum * scale : -INFINITY;
      highest = fmaxf(highest, scores[u]);
    }
    const float shrink = expf(largest - highest);
    largest = highest;
    total *= shrink;
#pragma unroll
    for (int a = 0; a < PARTS; ++a) {
      output[a] *= shrink;
    }
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
      const float weight = expf(scores[u] - largest);
      total += weight;
#pragma unroll
      for (int a = 0; a < PARTS; ++a) {
        const int64_t c = lane + a * 32;
        const bool real = first + u < n && c < d;
        output[a] += real ? weight * V[head + (first + u) * d + c] : 0.0F;
      }
    }
  }
#pragma unroll
  for (int a = 0; a < PARTS; ++a) {
    const int64_t c = lane + a * 32;
    if (c < d) {
      O[row * d + c] = output[a] / total;
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
  const auto blocks = static_cast<unsigned>((heads * n + QUERIES - 1) / QUERIES);
  auto* const kernel = d <= 64 ? &attention<2> : &attention<4>;
  kernel<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      heads, n, d, scale, static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
