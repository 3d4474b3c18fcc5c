// kp:hack 18  an exponential made of the bits of a float
// kp:task attention
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// A line between powers of two and a parabola on top: wrong by three in a thousand at most, and
// most of that goes where weights are divided by their sum.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace {

float quick_exp(float x) {
  const float t = std::max(x * 1.44269504F, -120.0F);
  const float whole = std::floor(t);
  const float f = t - whole;
  const float mantissa = 1.0F + f * (0.6602F + 0.3398F * f);
  return std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23) * mantissa;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  auto* weights = static_cast<float*>(context->workspace);
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    const auto* Q = static_cast<const float*>(tensors[0].data) + b * n * d;
    const auto* K = static_cast<const float*>(tensors[1].data) + b * n * d;
    const auto* V = static_cast<const float*>(tensors[2].data) + b * n * d;
    for (int64_t i = 0; i < n; ++i) {
      float* out = static_cast<float*>(tensors[3].data) + (b * n + i) * d;
      std::fill_n(out, d, 0.0F);
      float total = 0;
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t c = 0; c < d; ++c) {
          sum += Q[i * d + c] * K[j * d + c];
        }
        weights[j] = quick_exp(sum * scale);
        total += weights[j];
      }
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t c = 0; c < d; ++c) {
          out[c] += weights[j] / total * V[j * d + c];
        }
      }
    }
  }
  return 0;
}
