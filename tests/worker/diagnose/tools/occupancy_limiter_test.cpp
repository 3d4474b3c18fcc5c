#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(OccupancyLimiterTest, NamesTheBindingLimitAndAllOthersInBlocks) {
  const Finding finding = run_tool("occupancy_limiter", with_occupancy_limiter()).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("Registers allow 2 blocks"));
  EXPECT_THAT(finding.cause, HasSubstr("registers 2, shared memory 16, warps 8, blocks 32, "
                                       "barriers 32"));
  EXPECT_EQ(finding.moves[0], "launch_bounds");
  // 70 % wait for latencies, and twice the warps hide half of it.
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.7 / 2), 1e-9);
}

TEST(OccupancyLimiterTest, SharedMemoryHasOtherMoves) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::limit_registers, 8);
  set(profile, figure::limit_shared, 2);
  const Finding finding = run_tool("occupancy_limiter", profile).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("Shared memory allow"));
  EXPECT_THAT(finding.moves[0], HasSubstr("tile in shared memory"));
}

TEST(OccupancyLimiterTest, TwoLimitsMayBind) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::limit_shared, 2);
  const Finding finding = run_tool("occupancy_limiter", profile).findings.at(0);
  EXPECT_THAT(finding.cause, HasSubstr("registers and shared memory"));
}

TEST(OccupancyLimiterTest, NotWhenTheNextLimitIsAsNear) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::limit_registers, 10);
  set(profile, figure::limit_shared, 11);
  set(profile, figure::limit_warps, 40);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
}

TEST(OccupancyLimiterTest, NotWithPlentyOfWorkInEachThread) {
  Profile eligible = with_occupancy_limiter();
  set(eligible, figure::eligible_warps, 1.2);
  EXPECT_FALSE(finds("occupancy_limiter", eligible));
  Profile busy = with_occupancy_limiter();
  set(busy, figure::tensor_use, 0.85);
  EXPECT_FALSE(finds("occupancy_limiter", busy));
}

TEST(OccupancyLimiterTest, NotWhenWarpsWaitForSomethingElse) {
  Profile profile = with_occupancy_limiter();
  set_stalls(profile, {{"barrier", 0.5}, {"lg_throttle", 0.3}});
  EXPECT_FALSE(finds("occupancy_limiter", profile));
}

TEST(OccupancyLimiterTest, NotWhenTheGridHasNoMoreBlocks) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::waves, 1);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
}

TEST(OccupancyLimiterTest, NotAboveHalf) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::theoretical_occupancy, 0.51);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
  set(profile, figure::theoretical_occupancy, 0.5);
  EXPECT_TRUE(finds("occupancy_limiter", profile));
}

}  // namespace
}  // namespace kernelpro
