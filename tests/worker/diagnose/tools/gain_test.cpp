#include "worker/diagnose/tools/gain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(GainTest, AmdahlOnTheStalledShare) {
  EXPECT_DOUBLE_EQ(gain_of(0.5, {}, {}, {}).kernel, 2);
  EXPECT_DOUBLE_EQ(gain_of(0, {}, {}, {}).kernel, 1);
  EXPECT_DOUBLE_EQ(gain_of(-1, {}, {}, {}).kernel, 1);
}

TEST(GainTest, NoFasterThanTheFullestRoofThatStays) {
  Roofs loads;
  loads.l2 = 0.8;
  const Gain gain = gain_of(0.5, loads, {}, {});
  EXPECT_DOUBLE_EQ(gain.kernel, 1 / 0.8);
  EXPECT_THAT(gain.text, HasSubstr("what is left for L2 takes 80 %"));
}

TEST(GainTest, AReliefLiftsTheRoof) {
  Roofs loads;
  loads.l2 = 0.8;
  Roofs relief;
  relief.l2 = 0.5;
  EXPECT_DOUBLE_EQ(gain_of(0.5, loads, relief, {}).kernel, 2);
  // A full roof of which half goes saves that time even where no sample shows a wait.
  EXPECT_DOUBLE_EQ(gain_of(0, loads, relief, {}).kernel, 1 / 0.6);
  loads.l2 = 0.5;  // not full: the relief alone saves nothing
  EXPECT_DOUBLE_EQ(gain_of(0, loads, relief, {}).kernel, 1);
}

TEST(GainTest, NothingBecomesInfinitelyFast) {
  EXPECT_DOUBLE_EQ(gain_of(1, {}, {}, {}).kernel, 100);
}

TEST(GainTest, TheProgramGainsItsShare) {
  EXPECT_DOUBLE_EQ(program_gain(2, 1), 2);
  EXPECT_DOUBLE_EQ(program_gain(2, 0.5), 1 / 0.75);
  EXPECT_DOUBLE_EQ(program_gain(2, 0), 1);
  EXPECT_DOUBLE_EQ(program_gain(0.5, 1), 1);
}

TEST(RoofsTest, AgainstWhatWasMeasuredWhereItWas) {
  Profile profile = healthy();
  set(profile, figure::dram_use, 0.45);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.5);
  profile.ceilings.list = {{"copy", "GB/s", 0, 400, 400, 400}};
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.5);
  profile.ceilings.list = {{"copy", "GB/s", 0, 250, 250, 250}};
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.8);
  EXPECT_NEAR(roofs_of(profile, profile.kernels[0], {}).l2, 0.1 / 0.7, 1e-9);
  profile.ceilings.list = {{"l2_read", "GB/s", 0, 800, 800, 800}};
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).l2, 0.5);
}

TEST(RoofsTest, TheFullestOfTheArithmeticPipesCounts) {
  Profile profile = healthy();
  set(profile, figure::fp64_use, 0.95);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).pipes, 1);
}

}  // namespace
}  // namespace kernelpro
