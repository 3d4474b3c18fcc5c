// kp:compiler nvcc
// kp:options -O3
// Each thread computes PIXELS neighbors in a row for CHANNELS output channels: an input in a
// register serves three columns of the filter and every channel.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune PIXELS = 2 4 8
constexpr int PIXELS = 4;
// kp:tune CHANNELS = 2 4 8
constexpr int CHANNELS = 4;

// Row i + u - 1 of a channel from column j - 1 on; 0 beyond the edge.
__device__ void load_row(int64_t h, int64_t w, int64_t row, int64_t j,
                         const float* __restrict__ channel, float* values) {
#pragma unroll
  for (int v = 0; v < PIXELS + 2; ++v) {
    const int64_t column = j + v - 1;
    const bool inside = row >= 0 && row < h && column >= 0 && column < w;
    values[v] = inside ? channel[row * w + column] : 0.0F;
  }
}

__global__ void conv2d(int64_t images, int64_t in, int64_t out, int64_t h, int64_t w,
                       const float* __restrict__ x, const float* __restrict__ filters,
                       float* __restrict__ y) {
  const int64_t steps = (w + PIXELS - 1) / PIXELS;  // threads for a row
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  const int64_t first_out = static_cast<int64_t>(blockIdx.y) * CHANNELS;
  if (at >= images * h * steps) {
    return;
  }
  const int64_t j = at % steps * PIXELS;
  const int64_t i = at / steps % h;
  const int64_t b = at / (steps * h);
  float sums[CHANNELS][PIXELS] = {};
  for (int64_t c = 0; c < in; ++c) {
#pragma unroll
    for (int u = 0; u < 3; ++u) {
      float values[PIXELS + 2];
      load_row(h, w, i + u - 1, j, x + (b * in + c) * h * w, values);
#pragma unroll
      for (int o = 0; o < CHANNELS; ++o) {
        // Channels beyond the last compute the last once more and are not stored.
        const int64_t channel = first_out + o < out ? first_out + o : out - 1;
        const float* filter = filters + ((channel * in + c) * 3 + u) * 3;
#pragma unroll
        for (int q = 0; q < PIXELS; ++q) {
          sums[o][q] +=
              filter[0] * values[q] + filter[1] * values[q + 1] + filter[2] * values[q + 2];
        }
      }
    }
  }
#pragma unroll
  for (int o = 0; o < CHANNELS; ++o) {
#pragma unroll
    for (int q = 0; q < PIXELS; ++q) {
      if (first_out + o < out && j + q < w) {
        y[((b * out + first_out + o) * h + i) * w + j + q] = sums[o][q];
      }
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  const int64_t threads = axes[0] * axes[3] * ((axes[4] + PIXELS - 1) / PIXELS);
  if (threads == 0 || axes[2] == 0) {
    return 0;
  }
  const dim3 blocks(static_cast<unsigned>((threads + BLOCK - 1) / BLOCK),
                    static_cast<unsigned>((axes[2] + CHANNELS - 1) / CHANNELS));
  conv2d<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      axes[0], axes[1], axes[2], axes[3], axes[4], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
