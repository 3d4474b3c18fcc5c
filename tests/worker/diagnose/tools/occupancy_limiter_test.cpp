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
  // 70 % wait for latencies, and four times the warps hide three quarters of it.
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.7 * 0.75), 1e-9);
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

TEST(OccupancyLimiterTest, NotAboveAThird) {
  Profile profile = with_occupancy_limiter();
  set(profile, figure::theoretical_occupancy, 0.375);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
  set(profile, figure::theoretical_occupancy, 0.3125);
  EXPECT_TRUE(finds("occupancy_limiter", profile));
}

TEST(OccupancyLimiterTest, UpToAHalfWhereEachLoadWaitsForTheOneBefore) {
  Profile profile = with_occupancy_limiter();
  code_of(profile).loops = {loop_with(1, 1, 1e6)};
  set(profile, figure::theoretical_occupancy, 0.5);
  EXPECT_TRUE(finds("occupancy_limiter", profile));
  set(profile, figure::l1_use, 0.7);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
}

// Blocks of one warp: as many as fit are half of the warps.
TEST(OccupancyLimiterTest, LargerBlocksCostNothing) {
  Profile profile = healthy();
  profile.kernels.front().block = {32, 1, 1};
  set(profile, figure::theoretical_occupancy, 0.5);
  set(profile, figure::occupancy, 0.48);
  set(profile, figure::limit_registers, 64);
  set(profile, figure::limit_warps, 64);
  set(profile, figure::limit_shared, 128);
  set(profile, figure::limit_blocks, 32);
  set(profile, figure::limit_barriers, 64);
  set(profile, figure::eligible_warps, 0.3);
  set_stalls(profile, {{"long_scoreboard", 0.7}});
  const Finding finding = run_tool("occupancy_limiter", profile).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("Blocks allow 32"));
  EXPECT_THAT(finding.moves[0], HasSubstr("block size"));
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.7 / 2), 1e-9);
  // Registers that allow no more are in the way as well.
  set(profile, figure::limit_registers, 32);
  EXPECT_FALSE(finds("occupancy_limiter", profile));
}

// What programs do that gain by fewer registers, or by less shared memory: each turn of a loop
// waits for its load, and half of the warps are there, or fewer.
TEST(OccupancyLimiterTest, WhereFewerRegistersOrLessSharedMemoryGain) {
  for (const char* limit : {figure::limit_registers, figure::limit_shared}) {
    for (const double blocks : {1.0, 2.0, 3.0, 4.0}) {
      Profile profile = with_occupancy_limiter();
      code_of(profile).loops = {loop_with(1, 1, 1e6)};
      set(profile, figure::limit_registers, 8);
      set(profile, limit, blocks);
      set(profile, figure::theoretical_occupancy, blocks / 8);
      set(profile, figure::occupancy, blocks / 8 - 0.01);
      EXPECT_TRUE(finds("occupancy_limiter", profile)) << limit << " " << blocks;
    }
  }
}

TEST(OccupancyLimiterTest, NotForAProductWithAPipelineOfItsOwn) {
  Profile profile = with_occupancy_limiter();
  code_of(profile).mix["hmma"] = 2e7;
  EXPECT_TRUE(finds("occupancy_limiter", profile));
  for (const char* copies : {"cp_async", "tma_load", "bulk_copy"}) {
    Profile pipeline = profile;
    code_of(pipeline).mix[copies] = 1e6;
    EXPECT_FALSE(finds("occupancy_limiter", pipeline)) << copies;
  }
}

}  // namespace
}  // namespace kernelpro
