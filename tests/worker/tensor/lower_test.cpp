#include "worker/tensor/lower.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "worker/tensor/change.hpp"

namespace kernelpro {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Lower, RoundsToTheNearestAndTiesToEven) {
  for (const Lower lower : {Lower::tf32, Lower::f16}) {
    EXPECT_EQ(rounded_to(lower, 1.0F + 0x1p-12F), 1.0F);
    EXPECT_EQ(rounded_to(lower, 1.0F + 0x1p-11F), 1.0F) << "a tie";
    EXPECT_EQ(rounded_to(lower, 1.0F + 0x1.8p-11F), 1.0F + 0x1p-10F);
    EXPECT_EQ(rounded_to(lower, 1.0F + 0x3p-11F), 1.0F + 0x1p-9F) << "a tie";
    EXPECT_EQ(rounded_to(lower, -1.0F - 0x1.8p-11F), -1.0F - 0x1p-10F);
  }
  EXPECT_EQ(rounded_to(Lower::bf16, 1.0F + 0x1p-8F), 1.0F);
  EXPECT_EQ(rounded_to(Lower::bf16, 1.0F + 0x1.8p-8F), 1.0F + 0x1p-7F);
}

TEST(Lower, CutsTowardZeroAsMatrixUnitsDo) {
  EXPECT_EQ(rounded_to(Lower::tf32_cut, 1.0F + 0x1.fp-11F), 1.0F);
  EXPECT_EQ(rounded_to(Lower::tf32_cut, -1.0F - 0x1.fp-11F), -1.0F);
  EXPECT_EQ(name_of(Lower::tf32_cut), "tf32");
}

TEST(Lower, HasTheRangeOfTheTypeAndKeepsWhatIsNotFinite) {
  EXPECT_EQ(rounded_to(Lower::f16, 65503.0F), 65504.0F);
  EXPECT_EQ(rounded_to(Lower::f16, 65519.0F), 65504.0F);
  EXPECT_EQ(rounded_to(Lower::f16, 70000.0F), infinity);
  EXPECT_EQ(rounded_to(Lower::f16, 0x1.8p-25F), 0x1p-24F);
  EXPECT_EQ(rounded_to(Lower::f16, 0x1p-26F), 0.0F);
  for (const Lower lower : {Lower::tf32, Lower::tf32_cut, Lower::f16, Lower::bf16}) {
    EXPECT_EQ(rounded_to(lower, -infinity), -infinity);
    EXPECT_TRUE(std::isnan(rounded_to(lower, std::numeric_limits<float>::quiet_NaN())));
    EXPECT_EQ(rounded_to(lower, 0.0F), 0.0F);
  }
}

TEST(Lower, IsTheSameForHalvesInTheMiddleAndAtTheEndsOfTheirRange) {
  for (float value = 0x1p-20F; value < 80000.0F; value *= 1.0007F) {
    EXPECT_EQ(rounded_to(Lower::f16, value), f16_to_float(float_to_f16(value))) << value;
  }
}

TEST(Lower, ErrsByAtMostItsUnitRoundoff) {
  for (const Lower lower : {Lower::tf32, Lower::f16, Lower::bf16}) {
    double worst = 0;
    for (float value = 0.01F; value < 100.0F; value *= 1.0003F) {
      const double error = std::fabs(rounded_to(lower, value) - value) / value;
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, unit_roundoff(lower));
    EXPECT_GT(worst, 0.9 * unit_roundoff(lower));
  }
}

TEST(RoundValues, ChangesTypesThatAreFinerOnly) {
  double wide = 1.0 + 0x1.8p-8;
  round_values(reinterpret_cast<char*>(&wide), DType::f64, 1, Lower::bf16);
  EXPECT_EQ(wide, 1.0 + 0x1p-7);
  std::uint16_t half = float_to_f16(1.0F + 0x1.8p-8F);
  round_values(reinterpret_cast<char*>(&half), DType::f16, 1, Lower::tf32);
  EXPECT_EQ(f16_to_float(half), 1.0F + 0x1.8p-8F);
  round_values(reinterpret_cast<char*>(&half), DType::f16, 1, Lower::bf16);
  EXPECT_EQ(f16_to_float(half), 1.0F + 0x1p-7F);
  std::uint16_t brain = float_to_bf16(3.0F);
  round_values(reinterpret_cast<char*>(&brain), DType::bf16, 1, Lower::f16);
  EXPECT_EQ(bf16_to_float(brain), 3.0F);
  std::vector<float> floats(200'000, 1.0F + 0x1.8p-8F);
  round_values(reinterpret_cast<char*>(floats.data()), DType::f32, floats.size(), Lower::bf16);
  EXPECT_THAT(floats, ::testing::Each(1.0F + 0x1p-7F));
}

}  // namespace
}  // namespace kernelpro
