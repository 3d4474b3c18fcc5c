#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(BankConflictsTest, TheTimeOfThePipeIsWhatGoes) {
  Profile profile = with_bank_conflicts();
  const Finding finding = run_tool("bank_conflicts", profile).findings.at(0);
  EXPECT_EQ(finding.observed, 16);
  ASSERT_FALSE(finding.places.empty());
  EXPECT_EQ(finding.places[0].line, 15);
  // 15 of 16 shared turns and 4 of the global load: 15/20 of 0.9.
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.9 * 15 / 20), 1e-9);
}

TEST(BankConflictsTest, TwoWayPromisesLessThanEightWay) {
  Profile two = with_bank_conflicts();
  code_of(two).memory[0].wavefronts = 2e6;
  Profile eight = with_bank_conflicts();
  code_of(eight).memory[0].wavefronts = 8e6;
  EXPECT_GT(gain_by("bank_conflicts", two), 1.1);
  EXPECT_GT(gain_by("bank_conflicts", eight), gain_by("bank_conflicts", two));
}

TEST(BankConflictsTest, NotInAKernelBoundByDram) {
  Profile profile = with_bank_conflicts();
  set(profile, figure::l1_use, 0.4);
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, NotWhenThePipeIsHardlyUsed) {
  Profile profile = with_bank_conflicts();
  set(profile, figure::l1_use, 0.08);
  EXPECT_FALSE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, NotWhenNobodyWaitsForIt) {
  Profile profile = with_bank_conflicts();
  set_stalls(profile, {{"long_scoreboard", 0.8}, {"mio_throttle", 0.05}});
  set(profile, figure::l1_use, 0.4);
  EXPECT_FALSE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, OthersMayWaitAtTheBarrierInstead) {
  Profile profile = with_bank_conflicts();
  set_stalls(profile, {{"barrier", 0.5}, {"mio_throttle", 0.1}});
  EXPECT_TRUE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, NotForWideAccessesThatNeedTheirTurns) {
  Profile profile = with_bank_conflicts();
  code_of(profile).memory[0].bits = 128;
  code_of(profile).memory[0].wavefronts = 4e6;
  code_of(profile).memory[0].ideal_wavefronts = 4e6;
  EXPECT_FALSE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, AtomicsAreAnotherToolsMatter) {
  Profile profile = with_bank_conflicts();
  code_of(profile).memory[0].access = Access::atomic;
  EXPECT_FALSE(finds("bank_conflicts", profile));
}

TEST(BankConflictsTest, InstructionsWithoutWavefrontsAreSaid) {
  Profile profile = with_bank_conflicts();
  code_of(profile).memory[0].ideal_wavefronts.reset();
  const ToolResult result = run_tool("bank_conflicts", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.not_available, testing::Contains(HasSubstr("no wavefronts")));
}

}  // namespace
}  // namespace kernelpro
