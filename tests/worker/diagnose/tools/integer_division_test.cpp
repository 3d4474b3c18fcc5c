#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(IntegerDivisionTest, AQuarterOfTheStepsStays) {
  const Finding finding = run_tool("integer_division", with_integer_division()).findings.at(0);
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.45 * 0.75), 1e-9);
  EXPECT_EQ(finding.places.at(0).line, 50);
}

TEST(IntegerDivisionTest, NotWhereTheDivisionIsTheWork) {
  Profile profile = with_integer_division();
  for (MemoryInstruction& access : code_of(profile).memory) {
    access.executed = 1e5;
  }
  EXPECT_FALSE(finds("integer_division", profile));
}

TEST(IntegerDivisionTest, NotForOneBeforeALongLoop) {
  Profile profile = with_integer_division();
  set_pattern(profile, "index_division", 1e5, 2e6, 100);
  EXPECT_FALSE(finds("integer_division", profile));
}

TEST(IntegerDivisionTest, NotWhereMemoryIsTheLimit) {
  Profile profile = with_integer_division();
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("integer_division", profile));
}

// Warps that queue for atomics wait as long without divisions.
TEST(IntegerDivisionTest, NotWhereWarpsWaitForMemory) {
  Profile profile = with_integer_division();
  set(profile, figure::issue_use, 0.02);
  set_stalls(profile, {{"long_scoreboard", 0.6}, {"lg_throttle", 0.15}, {"drain", 0.23}});
  EXPECT_FALSE(finds("integer_division", profile));
}

TEST(IntegerDivisionTest, WhereInstructionsAreTheLimitWaitsAreHidden) {
  Profile profile = with_integer_division();
  set(profile, figure::issue_use, 0.97);
  set_stalls(profile, {{"long_scoreboard", 0.6}, {"not_selected", 0.3}});
  EXPECT_NEAR(gain_by("integer_division", profile), 1 / (1 - 0.45 * 0.75), 1e-9);
}

}  // namespace
}  // namespace kernelpro
