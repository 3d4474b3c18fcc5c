#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

// Full warps issue half of the instructions: measured so where issue slots were full.
TEST(DivergentWarpsTest, WhereInstructionsAreTheLimitTheirShareIsTheGain) {
  const Finding finding = run_tool("divergent_warps", with_divergent_warps()).findings.at(0);
  EXPECT_NEAR(finding.predicted_gain, 2, 1e-9);
  EXPECT_NEAR(finding.observed, 0.5, 1e-9);
  EXPECT_EQ(finding.places.at(0).line, 50);
}

TEST(DivergentWarpsTest, ElsewhereTheWaitsAtThemAre) {
  Profile profile = with_divergent_warps();
  set(profile, figure::issue_use, 0.2);
  EXPECT_NEAR(gain_by("divergent_warps", profile), 1 / (1 - 0.25), 1e-9);
}

// An access to shared memory takes a turn for one thread as for 32.
TEST(DivergentWarpsTest, FullWarpsTakeFewerTurnsOfSharedMemory) {
  Profile profile = with_divergent_warps();
  set(profile, figure::l1_use, 0.9);
  EXPECT_FALSE(finds("divergent_warps", profile));
  MemoryInstruction alone = access(Space::shared, Access::load, 30);
  alone.executed = alone.wavefronts = alone.ideal_wavefronts = 1e8;
  alone.threads = 4e8;
  code_of(profile).memory.push_back(alone);
  EXPECT_NEAR(gain_by("divergent_warps", profile), 2, 1e-9);
}

TEST(DivergentWarpsTest, NotWhereMemoryIsTheLimit) {
  Profile profile = with_divergent_warps();
  set(profile, figure::issue_use, 0.1);
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("divergent_warps", profile));
}

TEST(DivergentWarpsTest, NotForTheLastLanesOfAReduction) {
  Profile profile = with_divergent_warps();
  set_pattern(profile, "divergent", 0, 2e6, 200);
  set(profile, figure::active_threads, 31.3);
  EXPECT_FALSE(finds("divergent_warps", profile));
}

// They stand aside at atomics or flags, which the pattern leaves out.
TEST(DivergentWarpsTest, NotWhereThePatternHasNone) {
  Profile profile = with_divergent_warps();
  code_of(profile).patterns->clear();
  EXPECT_FALSE(finds("divergent_warps", profile));
}

TEST(DivergentWarpsTest, CodeThatNobodySearchedIsSaid) {
  Profile profile = with_divergent_warps();
  code_of(profile).patterns.reset();
  const ToolResult result = run_tool("divergent_warps", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.not_available,
              testing::Contains(testing::HasSubstr("read by an older version")));
}

// Sixteen threads a block: there is no branch that could be taken together.
TEST(DivergentWarpsTest, LanesThatABlockHasNoThreadsForAreSaid) {
  Profile profile = with_divergent_warps();
  profile.kernels.front().block = {4, 4, 1};
  const Finding finding = run_tool("divergent_warps", profile).findings.at(0);
  EXPECT_THAT(finding.cause, testing::HasSubstr("no multiple of 32"));
  EXPECT_THAT(finding.moves, testing::Not(testing::Contains("less_divergence")));
  profile.kernels.front().block = {250, 1, 1};
  EXPECT_THAT(run_tool("divergent_warps", profile).findings.at(0).moves,
              testing::Contains("less_divergence"));
}

}  // namespace
}  // namespace kernelpro
