#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(SlowArithmeticTest, TheStepsBeyondTheShortFormsAreTheGain) {
  const Finding finding = run_tool("slow_arithmetic", with_slow_arithmetic()).findings.at(0);
  EXPECT_NEAR(finding.predicted_gain, 2, 1e-9);
  EXPECT_EQ(finding.places.at(0).line, 50);
}

TEST(SlowArithmeticTest, NotForAFewInALongLoop) {
  Profile profile = with_slow_arithmetic();
  set_pattern(profile, "function", 2e5, 1e6, 100);
  EXPECT_FALSE(finds("slow_arithmetic", profile));
}

TEST(SlowArithmeticTest, NotWhereMemoryIsTheLimit) {
  Profile profile = with_slow_arithmetic();
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("slow_arithmetic", profile));
}

TEST(SlowArithmeticTest, NotForFunctionsThatAreShortAlready) {
  Profile profile = with_slow_arithmetic();
  code_of(profile).patterns->clear();
  set(profile, figure::special_use, 0.95);
  EXPECT_FALSE(finds("slow_arithmetic", profile));
}

// Warps that wait for memory wait as long without these steps.
TEST(SlowArithmeticTest, NotWhereWarpsWaitForMemory) {
  Profile profile = with_slow_arithmetic();
  set(profile, figure::issue_use, 0.05);
  set_stalls(profile, {{"long_scoreboard", 0.9}});
  EXPECT_FALSE(finds("slow_arithmetic", profile));
  set_stalls(profile, {{"wait", 0.5}, {"long_scoreboard", 0.2}});
  // Memory that is asked faster answers later: as large a part of what goes comes back.
  EXPECT_NEAR(gain_by("slow_arithmetic", profile), 1 / (1 - 0.5 * 0.8 * 0.8), 1e-9);
}

// Fast forms, and the options that choose them, leave double as it is.
TEST(SlowArithmeticTest, ShortFormsOfSinglePrecisionAreNoAdviceForDouble) {
  Profile profile = with_slow_arithmetic();
  EXPECT_THAT(run_tool("slow_arithmetic", profile).findings.at(0).moves,
              testing::Contains("fast_math"));
  code_of(profile).mix = {{"fp64", 5e7}, {"fp32", 1e6}};
  const std::vector<std::string> moves = run_tool("slow_arithmetic", profile).findings.at(0).moves;
  EXPECT_THAT(moves, testing::Not(testing::Contains("fast_math")));
  EXPECT_THAT(moves, testing::Not(testing::Contains("fast_division")));
  EXPECT_THAT(moves, testing::Contains("cheaper_functions"));
}

}  // namespace
}  // namespace kernelpro
