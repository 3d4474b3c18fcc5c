// kp:compiler nvcc
// kp:options -O3
// Each thread computes one pixel of CHANNELS output channels, so that an input is read once for all
// of them. All threads of a block need the same filters, which lie in shared memory.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune CHANNELS = 4 8 16
constexpr int CHANNELS = 8;
constexpr int DEPTH = 8;

__device__ void fetch(int64_t in, int64_t out, int64_t first_out, int64_t first_in,
                      const float* __restrict__ filters, float (*to)[9][CHANNELS]) {
  for (int at = static_cast<int>(threadIdx.x); at < DEPTH * 9 * CHANNELS; at += BLOCK) {
    const int o = at / (DEPTH * 9);
    const int c = at / 9 % DEPTH;
    const bool real = first_out + o < out && first_in + c < in;
    to[c][at % 9][o] = real ? filters[((first_out + o) * in + first_in + c) * 9 + at % 9] : 0.0F;
  }
}

// The 3 x 3 inputs around (i, j); 0 beyond the edge.
__device__ void window(int64_t h, int64_t w, int64_t i, int64_t j,
                       const float* __restrict__ channel, float* values) {
#pragma unroll
  for (int u = 0; u < 3; ++u) {
#pragma unroll
    for (int v = 0; v < 3; ++v) {
      const int64_t row = i + u - 1;
      const int64_t column = j + v - 1;
      const bool inside = row >= 0 && row < h && column >= 0 && column < w;
      values[u * 3 + v] = inside ? channel[row * w + column] : 0.0F;
    }
  }
}

__global__ void conv2d(int64_t images, int64_t in, int64_t out, int64_t h, int64_t w,
                       const float* __restrict__ x, const float* __restrict__ filters,
                       float* __restrict__ y) {
  __shared__ float shared_filters[DEPTH][9][CHANNELS];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  const int64_t first_out = static_cast<int64_t>(blockIdx.y) * CHANNELS;
  const bool real = at < images * h * w;  // the others stay to fetch filters
  const int64_t j = at % w;
  const int64_t i = at / w % h;
  const int64_t b = at / (w * h);
  float sums[CHANNELS] = {};
  for (int64_t first_in = 0; first_in < in; first_in += DEPTH) {
    fetch(in, out, first_out, first_in, filters, shared_filters);
    __syncthreads();
    for (int64_t c = first_in; real && c < first_in + DEPTH && c < in; ++c) {
      float values[9];
      window(h, w, i, j, x + (b * in + c) * h * w, values);
#pragma unroll
      for (int t = 0; t < 9; ++t) {
#pragma unroll
        for (int o = 0; o < CHANNELS; ++o) {
          sums[o] += shared_filters[c - first_in][t][o] * values[t];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int o = 0; o < CHANNELS; ++o) {
    if (real && first_out + o < out) {
      y[((b * out + first_out + o) * h + i) * w + j] = sums[o];
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  const int64_t pixels = axes[0] * axes[3] * axes[4];
  if (pixels == 0 || axes[2] == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((pixels + BLOCK - 1) / BLOCK),
                    static_cast<unsigned>((axes[2] + CHANNELS - 1) / CHANNELS));
  conv2d<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      axes[0], axes[1], axes[2], axes[3], axes[4], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
