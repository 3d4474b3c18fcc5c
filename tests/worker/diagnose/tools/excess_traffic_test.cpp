#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(ExcessTrafficTest, BytesSavedOverBandwidth) {
  // Twice the bytes needed, and DRAM is full: half of its time goes.
  Profile profile = with_excess_traffic();
  const Finding finding = run_tool("excess_traffic", profile).findings.at(0);
  EXPECT_NEAR(finding.observed, 2, 1e-9);
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.85 / 0.9 / (1.95 / 2) * 0.5), 1e-9);
  EXPECT_THAT(finding.title, HasSubstr("DRAM moves 2.0 times"));
}

TEST(ExcessTrafficTest, WithoutATaskTheLeastIsNotKnown) {
  Profile profile = with_excess_traffic();
  profile.work.reset();
  const ToolResult result = run_tool("excess_traffic", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.not_available, testing::ElementsAre(HasSubstr("no task")));
  profile.work = DeclaredWork{1e9, 0, 0, "f32", 1};
  EXPECT_THAT(run_tool("excess_traffic", profile).not_available,
              testing::ElementsAre(HasSubstr("no task")));
}

TEST(ExcessTrafficTest, NotWhenDramIsNotTheLimit) {
  Profile profile = with_excess_traffic();
  set(profile, figure::dram_use, 0.3);
  EXPECT_FALSE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, NotForALittleMore) {
  Profile profile = with_excess_traffic();
  set(profile, figure::dram_read_bytes, 1.5e9);
  EXPECT_FALSE(finds("excess_traffic", profile));
  set(profile, figure::dram_read_bytes, 1.7e9);
  EXPECT_TRUE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, CallsAndLaunchesAreCountedIn) {
  Profile profile = with_excess_traffic();
  profile.kernels.front().launches = 10;
  profile.work->calls = 20;  // ten launches for twenty calls: as much as needed
  EXPECT_FALSE(finds("excess_traffic", profile));
  profile.work->calls = 10;
  EXPECT_TRUE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, AChainOfKernelsMovesWhatOneWouldKeep) {
  Profile profile = with_excess_traffic();
  set(profile, figure::dram_read_bytes, 1e9);
  EXPECT_FALSE(finds("excess_traffic", profile));
  profile.kernels.push_back(profile.kernels.front());
  profile.kernels.front().share = profile.kernels.back().share = 0.5;
  EXPECT_TRUE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, NotForWhatSpillsMove) {
  Profile profile = with_excess_traffic();
  code_of(profile).mix["load_local"] = 1e6;
  code_of(profile).memory = {access(Space::local, Access::load, 16), wide_load(10), wide_load(11),
                             wide_load(12), wide_load(13)};  // 2 GB by global loads, all needed
  EXPECT_FALSE(finds("excess_traffic", profile));
  for (MemoryInstruction& load : code_of(profile).memory) {
    load.sectors = 40e6;
  }
  EXPECT_TRUE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, NotForAProductThatReadsLargeTilesAgain) {
  Profile profile = with_excess_traffic();
  set(profile, figure::dram_read_bytes, 1e9);
  set(profile, figure::dram_use, 0.1);
  set(profile, figure::l2_use, 0.65);
  set(profile, figure::l2_bytes, 4e10);
  profile.work->type = "f16";
  profile.work->flops = 2e12;  // tiles of 128 x 128 need 64 operations a byte
  EXPECT_FALSE(finds("excess_traffic", profile));
  profile.work->flops = 5e11;
  EXPECT_TRUE(finds("excess_traffic", profile));
}

TEST(ExcessTrafficTest, FromL2WhereThatIsFull) {
  Profile profile = with_excess_traffic();
  set(profile, figure::dram_read_bytes, 1e9);
  set(profile, figure::dram_use, 0.1);
  set(profile, figure::l2_use, 0.65);
  set(profile, figure::l2_bytes, 4e10);
  const ToolResult result = run_tool("excess_traffic", profile);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].title, HasSubstr("L2 moves 20.0 times"));
  set(profile, figure::l2_bytes, 7e9);
  EXPECT_FALSE(finds("excess_traffic", profile));
}

}  // namespace
}  // namespace kernelpro
