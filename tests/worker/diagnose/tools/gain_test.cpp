#include "worker/diagnose/tools/gain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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

// Healthy, with multiprocessors that work from begin to end.
Profile healthy_all_the_time() {
  Profile profile = healthy();
  for (const char* key : {figure::sm_active_mean, figure::sm_active_most}) {
    set(profile, key, 2e6);
  }
  return profile;
}

TEST(GainTest, HidingLatenciesDoesNotReachTheRoof) {
  Roofs loads;
  loads.dram = 0.5;
  EXPECT_DOUBLE_EQ(gain_by_hiding(0.9, loads, {}, {}).kernel, 0.85 / 0.5);
  EXPECT_DOUBLE_EQ(gain_by_hiding(0.2, loads, {}, {}).kernel, 1 / 0.8);
  loads.dram = 0.85;
  EXPECT_DOUBLE_EQ(gain_by_hiding(0.9, loads, {}, {}).kernel, 1);
}

TEST(RoofsTest, UnitsOfAMultiprocessorCountWhileItHasWork) {
  Profile profile = healthy_all_the_time();
  set(profile, figure::fma_use, 0.475);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).pipes, 0.5);
  set(profile, figure::sm_active_mean, 1e6);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).pipes, 1);
  // Better balance halves the time at most, and leaves that of the pipe.
  EXPECT_DOUBLE_EQ(balanced_roofs_of(profile, profile.kernels[0], {}).pipes, 0.5);
}

TEST(RoofsTest, MemoryCountsUntilTheLastMultiprocessorIsDone) {
  Profile profile = healthy_all_the_time();
  set(profile, figure::dram_use, 0.45);
  set(profile, figure::sm_active_mean, 0.5e6);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.5);
  set(profile, figure::sm_active_most, 1e6);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 1);
}

TEST(RoofsTest, TimesThatCannotBeAreTakenAsTheWhole) {
  for (const double odd : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    Profile profile = healthy_all_the_time();
    set(profile, figure::sm_elapsed, odd);
    EXPECT_DOUBLE_EQ(active_share(profile.kernels[0]).mean, 1) << odd;
    EXPECT_DOUBLE_EQ(active_share(profile.kernels[0]).most, 1) << odd;
  }
  Profile profile = healthy();
  profile.kernels[0].figures.erase(figure::sm_elapsed);
  EXPECT_DOUBLE_EQ(active_share(profile.kernels[0]).mean, 1);
}

TEST(RoofsTest, AgainstWhatWasMeasuredWhereItWas) {
  Profile profile = healthy_all_the_time();
  set(profile, figure::dram_use, 0.45);
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.5);
  profile.ceilings.list = {{"copy", "GB/s", 0, 400, 400, 400}};
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.5 / 0.92);
  profile.ceilings.list = {{"copy", "GB/s", 0, 250, 250, 250}};
  EXPECT_DOUBLE_EQ(roofs_of(profile, profile.kernels[0], {}).dram, 0.8 / 0.92);
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
