#include <bit>
#include <cstdint>

#include "kernelpro/candidate.h"

static float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fU;
  const uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t widened = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
}

static void w4a16_gemm(int64_t m, int64_t n, int64_t k, const uint16_t* X, const uint8_t* W,
                       const uint16_t* scales, float* Y) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (int64_t p = 0; p < k; ++p) {
        const int both = W[(j * k + p) / 2];
        const int value = (p % 2 == 0 ? both & 15 : both >> 4) - 8;
        const float weight = static_cast<float>(value) * half_to_float(scales[(j * k + p) / 32]);
        sum += half_to_float(X[i * k + p]) * weight;
      }
      Y[i * n + j] = sum;
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  w4a16_gemm(context->axes[0], context->axes[1], context->axes[3],
             static_cast<const uint16_t*>(tensors[0].data),
             static_cast<const uint8_t*>(tensors[1].data),
             static_cast<const uint16_t*>(tensors[2].data), static_cast<float*>(tensors[3].data));
  return 0;
}
