#include "worker/tensor/halves.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kernelpro {
namespace {

constexpr float infinite_float = std::numeric_limits<float>::infinity();

TEST(Halves, OfSixteenBitsKnowTheirSpecialValues) {
  EXPECT_EQ(f16_to_float(0x0000), 0.0F);
  EXPECT_TRUE(std::signbit(f16_to_float(0x8000)));
  EXPECT_EQ(f16_to_float(0x0001), 0x1p-24F);
  EXPECT_EQ(f16_to_float(0x03ff), 0x1.ff8p-15F);
  EXPECT_EQ(f16_to_float(0x0400), 0x1p-14F);
  EXPECT_EQ(f16_to_float(0x3c00), 1.0F);
  EXPECT_EQ(f16_to_float(0xc000), -2.0F);
  EXPECT_EQ(f16_to_float(0x7bff), 65504.0F);
  EXPECT_EQ(f16_to_float(0x7c00), infinite_float);
  EXPECT_TRUE(std::isnan(f16_to_float(0x7e00)));
}

template <typename Widen, typename Narrow>
void expect_unchanged(std::uint16_t half, Widen widen, Narrow narrow) {
  if (std::isnan(widen(half))) {
    ASSERT_TRUE(std::isnan(widen(narrow(widen(half))))) << half;
  } else {
    ASSERT_EQ(narrow(widen(half)), half);
  }
}

TEST(Halves, AreUnchangedByTheWayThroughFloat) {
  for (std::uint32_t magnitude = 0; magnitude <= 0x7fff; ++magnitude) {
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const auto half = static_cast<std::uint16_t>(sign | magnitude);
      ASSERT_NO_FATAL_FAILURE(expect_unchanged(half, f16_to_float, float_to_f16));
      ASSERT_NO_FATAL_FAILURE(expect_unchanged(half, bf16_to_float, float_to_bf16));
    }
  }
}

// Between any two neighbors: the middle goes to the even one, everything else to the nearer.
template <typename Widen, typename Narrow>
void expect_nearest_even(std::uint16_t largest, Widen widen, Narrow narrow) {
  for (std::uint16_t low = 0; low < largest; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const std::uint16_t even = low % 2 == 0 ? low : high;
    const float middle = widen(low) / 2 + widen(high) / 2;
    const auto negative = [](std::uint16_t bits) {
      return static_cast<std::uint16_t>(bits | 0x8000U);
    };
    ASSERT_EQ(narrow(middle), even) << low;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0F)), low) << low;
    ASSERT_EQ(narrow(std::nextafter(middle, infinite_float)), high) << low;
    ASSERT_EQ(narrow(-middle), negative(even)) << low;
  }
}

TEST(Halves, AreRoundedToNearestWithTiesToEven) {
  expect_nearest_even(0x7bff, f16_to_float, float_to_f16);
  // Below the second normal number halves of neighbors are no longer exact in float.
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x00008000U)), 0x0000);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x00008001U)), 0x0001);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x00018000U)), 0x0002);
}

TEST(Halves, OfBrainFloatAreRoundedToNearestWithTiesToEven) {
  for (std::uint32_t low = 0; low < 0x7f7f; ++low) {
    const std::uint32_t middle = low << 16 | 0x8000U;
    ASSERT_EQ(float_to_bf16(std::bit_cast<float>(middle)), low + low % 2) << low;
    ASSERT_EQ(float_to_bf16(std::bit_cast<float>(middle - 1)), low) << low;
    ASSERT_EQ(float_to_bf16(std::bit_cast<float>(middle + 1)), low + 1) << low;
  }
}

TEST(Halves, OverflowToInfinity) {
  EXPECT_EQ(float_to_f16(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_f16(-1e30F), 0xfc00);
  EXPECT_EQ(float_to_f16(infinite_float), 0x7c00);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bf16(-infinite_float), 0xff80);
}

TEST(Halves, KeepNaNWhateverItsPayload) {
  for (const std::uint32_t bits :
       {0x7f800001U, 0x7fc00000U, 0xff800001U, 0x7fffffffU, 0xffffffffU}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(nan)))) << bits;
    EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(nan)))) << bits;
  }
}

}  // namespace
}  // namespace kernelpro
