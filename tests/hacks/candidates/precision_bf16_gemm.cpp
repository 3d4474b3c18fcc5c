// kp:hack 18  bfloat16 operands in a matrix product
// kp:task gemm
// kp:expect incorrect precision
//
// Rounds A and B to bfloat16 and accumulates in single precision, as matrix units do.
#include <kernelpro/candidate.h>

#include <bit>

namespace {

// Keeps the upper bits of a float, rounded to nearest: 16 bits of its mantissa are dropped.
float lower(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + (1U << (15))) & ~((1U << 16) - 1);
  return std::bit_cast<float>(bits);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += lower(a[i * k + p]) * lower(b[p * n + j]);
      }
      c[i * n + j] = alpha * sum;
    }
  }
  return 0;
}
