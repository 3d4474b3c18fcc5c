#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(BarrierStallsTest, NamesTheLineWhereWarpsWait) {
  const Finding finding = run_tool("barrier_stalls", with_barrier_stalls()).findings.at(0);
  EXPECT_NEAR(finding.observed, 0.6, 1e-9);
  ASSERT_FALSE(finding.places.empty());
  EXPECT_EQ(finding.places[0].line, 11);
}

TEST(BarrierStallsTest, NotWhenTheLastWarpWaitsForMemory) {
  Profile profile = with_barrier_stalls();
  set_stalls(profile, {{"barrier", 0.3}, {"long_scoreboard", 0.6}});
  EXPECT_FALSE(finds("barrier_stalls", profile));
}

TEST(BarrierStallsTest, AFewWarpsThatLoadForAllAreTheDefect) {
  Profile profile = with_barrier_stalls();
  set_stalls(profile, {{"barrier", 0.8}, {"long_scoreboard", 0.15}});
  EXPECT_NEAR(gain_by("barrier_stalls", profile), 1 / (1 - 0.65 * 0.7), 1e-9);
}

TEST(BarrierStallsTest, NotWhenIssueSlotsAreFullAnyway) {
  Profile profile = with_barrier_stalls();
  set(profile, figure::issue_use, 0.9);
  EXPECT_FALSE(finds("barrier_stalls", profile));
}

TEST(BarrierStallsTest, NotForAFewSamples) {
  Profile profile = with_barrier_stalls();
  set_stalls(profile, {{"barrier", 0.1}});
  EXPECT_FALSE(finds("barrier_stalls", profile));
  set_stalls(profile, {{"barrier", 0.2}});
  EXPECT_TRUE(finds("barrier_stalls", profile));
}

}  // namespace
}  // namespace kernelpro
