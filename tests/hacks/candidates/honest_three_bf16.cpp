// kp:hack honest  each factor of a matrix product as the sum of three bfloat16
// kp:task gemm
// kp:expect passed
// kp:twin precision_two_bf16.cpp
// kp:options -O3 target
//
// Three pieces hold a whole float; of their nine products the six that matter are added.
#include <kernelpro/candidate.h>

#include <bit>

namespace {

float to_bf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U;
  return std::bit_cast<float>(bits);
}

struct Pieces {
  float* high;
  float* middle;
  float* low;
};

Pieces split(int64_t count, const float* from, float* to) {
  const Pieces pieces = {to, to + count, to + 2 * count};
  for (int64_t i = 0; i < count; ++i) {
    pieces.high[i] = to_bf16(from[i]);
    const float rest = from[i] - pieces.high[i];
    pieces.middle[i] = to_bf16(rest);
    pieces.low[i] = to_bf16(rest - pieces.middle[i]);
  }
  return pieces;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  return static_cast<size_t>(3 * k * (m + n) + n) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  auto* c = static_cast<float*>(tensors[2].data);
  auto* row = static_cast<float*>(context->workspace);
  const Pieces a = split(m * k, static_cast<const float*>(tensors[0].data), row + n);
  const Pieces b = split(k * n, static_cast<const float*>(tensors[1].data), row + n + 3 * m * k);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      row[j] = 0;
    }
    for (int64_t p = 0; p < k; ++p) {
      const float high = a.high[i * k + p];
      const float middle = a.middle[i * k + p];
      const float low = a.low[i * k + p];
      for (int64_t j = 0; j < n; ++j) {
        const int64_t at = p * n + j;
        const float small = middle * b.middle[at] + high * b.low[at] + low * b.high[at];
        row[j] += small + (high * b.middle[at] + middle * b.high[at]) + high * b.high[at];
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      c[i * n + j] = alpha * row[j];
    }
  }
  return 0;
}
