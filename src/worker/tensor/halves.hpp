// 16-bit floating types as bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernelpro {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Round to nearest, ties to even; NaN stays NaN.
inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float f16_to_float(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Round to nearest, ties to even; overflow becomes infinity.
inline std::uint16_t float_to_f16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | 0x7e00);
  }
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0F) {
    return static_cast<std::uint16_t>(sign | 0x7c00);
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The spacing of the half-precision numbers around the value: 2^(exponent - 11), 2^-24 at least.
  const int spacing = exponent < -13 ? -24 : exponent - 11;
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -spacing)));
  if (spacing == -24) {
    return static_cast<std::uint16_t>(sign | steps);
  }
  // `steps` is in [1024, 2048]; 2048 carries into the exponent by itself.
  return static_cast<std::uint16_t>(sign | (((spacing + 25) << 10) + steps - 1024));
}

}  // namespace kernelpro
