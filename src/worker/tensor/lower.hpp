// Precisions below single: what a value becomes when it is rounded to one of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "worker/tensor/halves.hpp"

namespace kernelpro {

// As draw_kernels.cuh numbers them, from the most precise to the least. Matrix units that read
// single precision as tf32 drop its last bits, which is a rounding toward zero.
enum class Lower : int { tf32, tf32_cut, f16, bf16 };

// The name that a user allows it by.
[[nodiscard]] constexpr std::string_view name_of(Lower lower) {
  switch (lower) {
    case Lower::f16:
      return "f16";
    case Lower::bf16:
      return "bf16";
    default:
      return "tf32";
  }
}

[[nodiscard]] constexpr double unit_roundoff(Lower lower) {
  return lower == Lower::bf16 ? 0x1p-8 : 0x1p-11;
}

[[nodiscard]] inline float rounded_to(Lower lower, float value) {
  constexpr std::uint32_t tf32_rest = (1U << 13U) - 1;  // the bits of a float that tf32 lacks
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) {
    return value;
  }
  if (lower == Lower::bf16) {
    return bf16_to_float(float_to_bf16(value));
  }
  if (lower == Lower::tf32_cut) {
    return std::bit_cast<float>(bits & ~tf32_rest);
  }
  // Half precision has the same mantissa in the middle of its range, and both have exact halves.
  const float size = std::fabs(value);
  if (lower == Lower::f16 && (size < 0x1p-14F || size >= 65504.0F)) {
    return f16_to_float(float_to_f16(value));
  }
  return std::bit_cast<float>((bits + (tf32_rest >> 1U) + ((bits >> 13U) & 1U)) & ~tf32_rest);
}

}  // namespace kernelpro
