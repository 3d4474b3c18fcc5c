#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

Profile with_tail() {
  Profile profile = healthy();
  set(profile, figure::waves, 1.1);
  set(profile, figure::occupancy, 0.55);
  return profile;
}

Profile with_imbalance() {
  Profile profile = healthy();
  set(profile, figure::sm_active_mean, 0.6e6);
  return profile;
}

TEST(BlockShortageTest, EqualBlocksEndApartAsWell) {
  Profile profile = with_imbalance();
  EXPECT_TRUE(finds("block_shortage", profile));
  set(profile, figure::sm_active_mean, 1.72e6);  // of 1.95e6
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, UnequalBlocksThatShareAFullMemoryLoseLittle) {
  Profile profile = with_imbalance();
  set(profile, figure::sm_active_mean, 1.5e6);
  EXPECT_TRUE(finds("block_shortage", profile));
  set(profile, figure::dram_use, 0.85);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, FewerBlocksThanMultiprocessors) {
  const Finding finding = run_tool("block_shortage", with_block_shortage()).findings.at(0);
  EXPECT_EQ(finding.title, "20 blocks for 132 multiprocessors");
  EXPECT_GT(finding.predicted_gain, 4);
}

TEST(BlockShortageTest, ANearlyEmptyLastWave) {
  const Finding finding = run_tool("block_shortage", with_tail()).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("1.10 waves"));
}

TEST(BlockShortageTest, ATailOfALongKernelIsNone) {
  Profile profile = with_tail();
  set(profile, figure::waves, 20.1);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, ATailThatOccupancyDoesNotShowIsNone) {
  Profile profile = with_tail();
  set(profile, figure::occupancy, 0.97);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, FullWavesAreNone) {
  Profile profile = with_tail();
  set(profile, figure::waves, 2);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, BlocksOfUnequalLength) {
  const Finding finding = run_tool("block_shortage", with_imbalance()).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("3.2 times as long as the average"));
}

TEST(BlockShortageTest, AGridThatHalfFillsTheMultiprocessorsCountsWhenWarpsWait) {
  Profile profile = healthy();
  profile.kernels.front().grid = {264, 1, 1};
  set(profile, figure::waves, 0.25);
  set(profile, figure::occupancy, 0.25);
  set_stalls(profile, {{"math_pipe_throttle", 0.9}});
  EXPECT_FALSE(finds("block_shortage", profile));
  set_stalls(profile, {{"long_scoreboard", 0.8}});
  const ToolResult result = run_tool("block_shortage", profile);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].title, HasSubstr("fills 25 %"));
}

TEST(BlockShortageTest, ALastWaveThatRunsFasterForBeingAloneIsNone) {
  Profile profile = with_tail();
  set(profile, figure::fp64_use, 0.8);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, AGridThatHalfFillsThemWithEnoughWarpsIsNone) {
  Profile profile = healthy();
  set(profile, figure::waves, 0.6);
  set(profile, figure::occupancy, 0.55);
  set_stalls(profile, {{"long_scoreboard", 0.8}});
  EXPECT_FALSE(finds("block_shortage", profile));
  set(profile, figure::occupancy, 0.45);
  EXPECT_TRUE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, NotWhenThoseWhoWorkFillDram) {
  Profile profile = with_imbalance();
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, NotForAKernelThatIsAllStartAndEnd) {
  Profile profile = with_block_shortage();
  set(profile, figure::duration_ns, 2100);
  EXPECT_FALSE(finds("block_shortage", profile));
}

TEST(BlockShortageTest, WithoutCountersTheGridStillTells) {
  Profile profile = with_block_shortage();
  profile.counters = "denied";
  profile.kernels.front().figures.clear();
  profile.kernels.front().stalls.clear();
  ToolResult result = run_tool("block_shortage", profile);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].derivation, HasSubstr("without counters"));
  EXPECT_FALSE(result.not_available.empty());
  profile.kernels.front().grid = {100, 1, 1};
  result = run_tool("block_shortage", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_FALSE(result.not_available.empty());
}

}  // namespace
}  // namespace kernelpro
