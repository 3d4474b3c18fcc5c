// kp:options -O3 target openmp -fno-trapping-math
// The keys are transposed, so that a query's scores with all keys grow side by side, one dimension
// after the other; the output grows value by value. Every inner loop runs along memory and
// vectorizes. Queries are shared among the threads.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// For x <= 0: 2^k e^r with |r| <= ln(2)/2, Taylor to r^6. Below -87 the result would be subnormal:
// it is taken at -87, less than 1e-37 off.
inline float exp_of_negative(float x) {
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float k = (clamped * 1.44269504F + shift) - shift;
  const float r = (clamped - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const int32_t power = (static_cast<int32_t>(k) + 127) << 23;
  return p * std::bit_cast<float>(power);
}

void add_scaled(int64_t n, float scale, const float* __restrict x, float* __restrict y) {
  for (int64_t j = 0; j < n; ++j) {
    y[j] += scale * x[j];
  }
}

// Turns scores into weights; returns their sum.
float exponentiate(int64_t n, float* weights) {
  float largest = weights[0];
#pragma omp simd reduction(max : largest)
  for (int64_t j = 0; j < n; ++j) {
    largest = weights[j] > largest ? weights[j] : largest;
  }
  float total = 0.0F;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < n; ++j) {
    weights[j] = exp_of_negative(weights[j] - largest);
    total += weights[j];
  }
  return total;
}

// The output of one query; `keys` are transposed.
void attend(int64_t n, int64_t d, float scale, const float* q, const float* keys,
            const float* values, float* weights, float* o) {
  std::fill_n(weights, n, 0.0F);
  for (int64_t c = 0; c < d; ++c) {
    add_scaled(n, q[c] * scale, keys + c * n, weights);
  }
  const float inverse = 1.0F / exponentiate(n, weights);
  std::fill_n(o, d, 0.0F);
  for (int64_t j = 0; j < n; ++j) {
    add_scaled(d, weights[j] * inverse, values + j * d, o);
  }
}

}  // namespace

// The transposed keys, and a row of weights for each query.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t* axes = context->axes;
  return static_cast<size_t>(axes[0] * axes[1] * (axes[2] + axes[1])) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* queries = static_cast<const float*>(tensors[0].data);
  const auto* keys = static_cast<const float*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  auto* out = static_cast<float*>(tensors[3].data);
  auto* transposed = static_cast<float*>(context->workspace);
  auto* weights = transposed + heads * n * d;
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
#pragma omp parallel num_threads(context->threads)
  {
#pragma omp for schedule(static)
    for (int64_t row = 0; row < heads * d; ++row) {
      const float* column = keys + row / d * n * d + row % d;
      for (int64_t j = 0; j < n; ++j) {
        transposed[row * n + j] = column[j * d];
      }
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < heads * n; ++i) {
      const int64_t head = i / n * n * d;
      attend(n, d, scale, queries + i * d, transposed + head, values + head, weights + i * n,
             out + i * d);
    }
  }
  return 0;
}
