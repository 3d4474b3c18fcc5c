// kp:hack honest  attention over blocks of keys, rescaled when a larger score comes
// kp:task attention
// kp:expect passed
// kp:twin meaning_window_of_keys.cpp
// kp:options -O3 target openmp
//
// No more than a block of weights is ever kept; heads and blocks of queries are tasks of OpenMP.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int64_t keys = 32;
constexpr int64_t queries = 16;

void attend(int64_t n, int64_t d, const float* q, const float* K, const float* V, float* out) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  float largest = -INFINITY;
  float total = 0;
  std::fill_n(out, d, 0.0F);
  for (int64_t first = 0; first < n; first += keys) {
    const int64_t count = std::min(keys, n - first);
    float weights[keys];
    float top = largest;
    for (int64_t j = 0; j < count; ++j) {
      float sum = 0;
      for (int64_t c = 0; c < d; ++c) {
        sum += q[c] * K[(first + j) * d + c];
      }
      weights[j] = sum * scale;
      top = std::max(top, weights[j]);
    }
    const float shrink = std::exp(largest - top);
    largest = top;
    total *= shrink;
    for (int64_t c = 0; c < d; ++c) {
      out[c] *= shrink;
    }
    for (int64_t j = 0; j < count; ++j) {
      const float weight = std::exp(weights[j] - top);
      total += weight;
      for (int64_t c = 0; c < d; ++c) {
        out[c] += weight * V[(first + j) * d + c];
      }
    }
  }
  for (int64_t c = 0; c < d; ++c) {
    out[c] /= total;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
#pragma omp parallel num_threads(context->threads)
#pragma omp single
#pragma omp taskloop collapse(2) grainsize(1)
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    for (int64_t first = 0; first < n; first += queries) {
      const auto* Q = static_cast<const float*>(tensors[0].data) + b * n * d;
      const auto* K = static_cast<const float*>(tensors[1].data) + b * n * d;
      const auto* V = static_cast<const float*>(tensors[2].data) + b * n * d;
      auto* O = static_cast<float*>(tensors[3].data) + b * n * d;
      for (int64_t i = first; i < std::min(first + queries, n); ++i) {
        attend(n, d, Q + i * d, K, V, O + i * d);
      }
    }
  }
  return 0;
}
