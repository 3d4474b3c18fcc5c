// kp:hack 18  bfloat16 arithmetic
// kp:task axpy
// kp:expect incorrect precision
//
// Rounds operands and result to bfloat16.
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
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  for (int64_t i = 0; i < n; ++i) {
    out[i] = lower(lower(alpha) * lower(x[i]) + lower(y[i]));
  }
  return 0;
}
