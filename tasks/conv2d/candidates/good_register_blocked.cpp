// kp:options -O3 target openmp
// The images are copied with zeros around them, and the filters prepared so that those of eight
// output channels lie side by side: a tile of eight channels by eight points of a row then stays in
// registers over all input channels and taps.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 2;
constexpr int64_t points = lanes * vectors;
constexpr int64_t channels = 8;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

struct Sizes {
  int64_t images;
  int64_t in;
  int64_t out;
  int64_t h;
  int64_t w;
  int64_t padded_h;
  int64_t padded_w;  // room for whole tiles and the taps beside them
  int64_t blocks;    // of output channels
};

Sizes sizes_of(const kp_context* context) {
  const int64_t* axes = context->axes;
  return {axes[0],
          axes[1],
          axes[2],
          axes[3],
          axes[4],
          axes[3] + 2,
          (axes[4] + points - 1) / points * points + 2,
          (axes[2] + channels - 1) / channels};
}

void pad_image(const Sizes& sizes, const float* x, float* padded) {
  std::fill_n(padded, sizes.padded_h * sizes.padded_w, 0.0F);
  for (int64_t i = 0; i < sizes.h; ++i) {
    std::copy_n(x + i * sizes.w, sizes.w, padded + (i + 1) * sizes.padded_w + 1);
  }
}

// Sums of `points` points from `x` on, for the channels of one block.
void compute_tile(const Sizes& sizes, const float* x, const float* filters, float (*sums)[points]) {
  Vector sum[channels][vectors] = {};
  const int64_t image = sizes.padded_h * sizes.padded_w;
  for (int64_t c = 0; c < sizes.in; ++c) {
    for (int64_t u = 0; u < 3; ++u) {
      for (int64_t v = 0; v < 3; ++v) {
        Vector part[vectors];
        std::memcpy(part, x + c * image + u * sizes.padded_w + v, sizeof part);
        const float* tap = filters + (c * 9 + u * 3 + v) * channels;
        for (int64_t o = 0; o < channels; ++o) {
          for (int64_t n = 0; n < vectors; ++n) {
            sum[o][n] += tap[o] * part[n];
          }
        }
      }
    }
  }
  std::memcpy(sums, sum, sizeof sum);
}

// One row of the output channels of one block.
void compute_row(const Sizes& sizes, int64_t block, const float* x, const float* filters,
                 float* y) {
  const int64_t used = std::min(channels, sizes.out - block * channels);
  for (int64_t j = 0; j < sizes.w; j += points) {
    float sums[channels][points];
    compute_tile(sizes, x + j, filters, sums);
    for (int64_t o = 0; o < used; ++o) {
      std::copy_n(sums[o], std::min(points, sizes.w - j), y + o * sizes.h * sizes.w + j);
    }
  }
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const Sizes sizes = sizes_of(context);
  return static_cast<size_t>(sizes.blocks * channels * sizes.in * 9) * sizeof(float);
}

// Channels past the last are zeros.
int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const Sizes sizes = sizes_of(context);
  const auto* filters = static_cast<const float*>(tensors[1].data);
  auto* prepared = static_cast<float*>(context->state);
  const int64_t taps = sizes.in * 9;
  for (int64_t o = 0; o < sizes.blocks * channels; ++o) {
    float* block = prepared + o / channels * channels * taps + o % channels;
    for (int64_t t = 0; t < taps; ++t) {
      block[t * channels] = o < sizes.out ? filters[o * taps + t] : 0.0F;
    }
  }
  return 0;
}

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const Sizes sizes = sizes_of(context);
  return static_cast<size_t>(sizes.images * sizes.in * sizes.padded_h * sizes.padded_w) *
         sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->state == nullptr ||
      context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const Sizes sizes = sizes_of(context);
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[2].data);
  const auto* filters = static_cast<const float*>(context->state);
  auto* padded = static_cast<float*>(context->workspace);
  const int64_t image = sizes.padded_h * sizes.padded_w;
#pragma omp parallel num_threads(context->threads)
  {
#pragma omp for schedule(static)
    for (int64_t c = 0; c < sizes.images * sizes.in; ++c) {
      pad_image(sizes, x + c * sizes.h * sizes.w, padded + c * image);
    }
#pragma omp for collapse(3) schedule(static)
    for (int64_t b = 0; b < sizes.images; ++b) {
      for (int64_t block = 0; block < sizes.blocks; ++block) {
        for (int64_t i = 0; i < sizes.h; ++i) {
          const int64_t first = b * sizes.out + block * channels;
          compute_row(sizes, block, padded + b * sizes.in * image + i * sizes.padded_w,
                      filters + block * channels * sizes.in * 9,
                      y + (first * sizes.h + i) * sizes.w);
        }
      }
    }
  }
  return 0;
}
