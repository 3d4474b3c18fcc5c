// kp:options -O3 target openmp
// One pass over the input: each chunk is taken against the largest value seen so far, and the last
// pass, which must scale the row anyway, corrects the chunks that came before a larger value.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t chunk = 512;
using Vector = float __attribute__((vector_size(16)));
using Whole = int32_t __attribute__((vector_size(16)));
constexpr int64_t lanes = 4;

int64_t chunks_of(int64_t cols) {
  return (cols + chunk - 1) / chunk;
}

// For x <= 0: 2^k e^r with |r| <= ln(2)/2, Taylor to r^6. Below -87 the result would be subnormal:
// it is taken at -87, less than 1e-37 off.
inline Vector exp_of_negative(Vector x) {
  const Vector lowest = Vector{} - 87.0F;
  const Vector clamped = x < lowest ? lowest : x;
  const float shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const Vector k = (clamped * 1.44269504F + shift) - shift;
  const Vector r = (clamped - k * 0.693359375F) + k * 2.12194440e-4F;
  Vector p = r * (1.0F / 720.0F) + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Whole bits = (__builtin_convertvector(k, Whole) + 127) << 23;
  Vector power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

float exp_of_negative(float x) {
  return exp_of_negative(Vector{} + x)[0];
}

float largest_of(int64_t n, const float* x) {
  Vector best[4];
  std::fill_n(best, 4, Vector{} + x[0]);
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    for (int v = 0; v < 4; ++v) {
      Vector in;
      std::memcpy(&in, x + j + v * lanes, sizeof in);
      best[v] = best[v] < in ? in : best[v];
    }
  }
  float result = x[0];
  for (const Vector& part : best) {
    for (int l = 0; l < lanes; ++l) {
      result = std::max(result, part[l]);
    }
  }
  for (; j < n; ++j) {
    result = std::max(result, x[j]);
  }
  return result;
}

float write_exponentials(int64_t n, float largest, const float* x, float* y) {
  Vector sums[2] = {};
  int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    for (int v = 0; v < 2; ++v) {
      Vector in;
      std::memcpy(&in, x + j + v * lanes, sizeof in);
      const Vector e = exp_of_negative(in - largest);
      std::memcpy(y + j + v * lanes, &e, sizeof e);
      sums[v] += e;
    }
  }
  const Vector both = sums[0] + sums[1];
  float sum = (both[0] + both[1]) + (both[2] + both[3]);
  for (; j < n; ++j) {
    y[j] = exp_of_negative(x[j] - largest);
    sum += y[j];
  }
  return sum;
}

// `seen` has room for one value per chunk: the largest of the row up to and with that chunk.
void softmax_row(int64_t cols, const float* x, float* y, float* seen) {
  const int64_t chunks = chunks_of(cols);
  float largest = x[0];
  float sum = 0.0F;
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t first = c * chunk;
    const int64_t n = std::min(chunk, cols - first);
    const float next = std::max(largest, largest_of(n, x + first));
    sum = sum * exp_of_negative(largest - next) + write_exponentials(n, next, x + first, y + first);
    largest = next;
    seen[c] = next;
  }
  for (int64_t c = 0; c < chunks; ++c) {
    const float scale = exp_of_negative(seen[c] - largest) / sum;
    const int64_t last = std::min((c + 1) * chunk, cols);
    for (int64_t j = c * chunk; j < last; ++j) {
      y[j] *= scale;
    }
  }
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[0] * chunks_of(context->axes[1])) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const int64_t cols = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  auto* seen = static_cast<float*>(context->workspace);
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (int64_t i = 0; i < rows; ++i) {
    softmax_row(cols, x + i * cols, y + i * cols, seen + i * chunks_of(cols));
  }
  return 0;
}
