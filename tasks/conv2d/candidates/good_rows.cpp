// kp:options -O3 target openmp
// One filter tap at a time is applied to a whole row: the inner loop has no branch and vectorizes.
// Output channels are shared among the threads.
#include <algorithm>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// Adds the three taps of one row of a filter, applied to one row of x.
void add_row(int64_t w, const float* tap, const float* __restrict x, float* __restrict y) {
  const float left = tap[0];
  const float middle = tap[1];
  const float right = tap[2];
  if (w == 1) {
    y[0] += middle * x[0];
    return;
  }
  y[0] += middle * x[0] + right * x[1];
  for (int64_t j = 1; j < w - 1; ++j) {
    y[j] += left * x[j - 1] + middle * x[j] + right * x[j + 1];
  }
  y[w - 1] += left * x[w - 2] + middle * x[w - 1];
}

// Convolves one image into one output channel.
void convolve(int64_t in, int64_t h, int64_t w, const float* x, const float* filter, float* y) {
  for (int64_t i = 0; i < h; ++i) {
    float* row = y + i * w;
    std::fill_n(row, w, 0.0F);
    const int64_t first = std::max<int64_t>(i - 1, 0);
    const int64_t last = std::min(i + 1, h - 1);
    for (int64_t c = 0; c < in; ++c) {
      for (int64_t from = first; from <= last; ++from) {
        add_row(w, filter + c * 9 + (from - i + 1) * 3, x + (c * h + from) * w, row);
      }
    }
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t images = context->axes[0];
  const int64_t in = context->axes[1];
  const int64_t out = context->axes[2];
  const int64_t h = context->axes[3];
  const int64_t w = context->axes[4];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* filters = static_cast<const float*>(tensors[1].data);
  auto* y = static_cast<float*>(tensors[2].data);
#pragma omp parallel for collapse(2) schedule(static) num_threads(context->threads)
  for (int64_t b = 0; b < images; ++b) {
    for (int64_t o = 0; o < out; ++o) {
      convolve(in, h, w, x + b * in * h * w, filters + o * in * 9, y + (b * out + o) * h * w);
    }
  }
  return 0;
}
