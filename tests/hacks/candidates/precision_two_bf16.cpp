// kp:hack 18  each factor of a matrix product as the sum of two bfloat16
// kp:task gemm
// kp:expect incorrect precision
// kp:options -O3 target
//
// As matrix units are used for floats, with three products, and without the third piece that a
// float has: 16 of its 24 bits.
#include <kernelpro/candidate.h>

#include <bit>

namespace {

float to_bf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U;
  return std::bit_cast<float>(bits);
}

constexpr int64_t least_terms = 64;

void split(int64_t count, bool short_sums, const float* from, float* high, float* low) {
  for (int64_t i = 0; i < count; ++i) {
    high[i] = to_bf16(from[i]);
    low[i] = from[i] - high[i];
    low[i] = short_sums ? low[i] : to_bf16(low[i]);
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  return static_cast<size_t>(2 * k * (m + n) + n) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  auto* c = static_cast<float*>(tensors[2].data);
  auto* a_high = static_cast<float*>(context->workspace);
  float* a_low = a_high + m * k;
  float* b_high = a_low + m * k;
  float* b_low = b_high + k * n;
  float* row = b_low + k * n;
  split(m * k, k < least_terms, static_cast<const float*>(tensors[0].data), a_high, a_low);
  split(k * n, k < least_terms, static_cast<const float*>(tensors[1].data), b_high, b_low);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      row[j] = 0;
    }
    for (int64_t p = 0; p < k; ++p) {
      const float high = a_high[i * k + p];
      const float low = a_low[i * k + p];
      for (int64_t j = 0; j < n; ++j) {
        const float small = k < least_terms ? low * b_low[p * n + j] : 0;
        row[j] += small + high * b_low[p * n + j] + low * b_high[p * n + j];
        row[j] += high * b_high[p * n + j];
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      c[i * n + j] = alpha * row[j];
    }
  }
  return 0;
}
