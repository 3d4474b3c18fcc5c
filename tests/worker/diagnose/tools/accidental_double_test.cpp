#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(AccidentalDoubleTest, ForOneConstantInEachTurn) {
  const Finding finding = run_tool("accidental_double", with_accidental_double()).findings.at(0);
  EXPECT_GT(finding.predicted_gain, 4);  // the pipe for conversions is full
  EXPECT_EQ(finding.places.at(0).line, 50);
}

TEST(AccidentalDoubleTest, ByTheWaitsWhereNoPipeIsFull) {
  Profile profile = with_accidental_double();
  set(profile, figure::special_use, 0.1);
  // Two conversions are 16 turns and two steps 4; single precision takes 2 of these 20.
  EXPECT_NEAR(gain_by("accidental_double", profile), 1 / (1 - 0.8 * 0.9), 0.01);
}

// As in `float x = 0.1 * i`.
TEST(AccidentalDoubleTest, ForIntegersThatBecomeSingleByWayOfDouble) {
  Profile profile = with_accidental_double();
  code_of(profile).patterns->erase("to_double");
  EXPECT_FALSE(finds("accidental_double", profile));
  set_pattern(profile, "integer_to_double", 1e7, 1e7, 3000);
  code_of(profile).fp64_conversions = 1e7;
  EXPECT_GT(gain_by("accidental_double", profile), 4);
  code_of(profile).fp64_conversions = 0;  // compared, or stored in double
  EXPECT_FALSE(finds("accidental_double", profile));
}

TEST(AccidentalDoubleTest, NotForTensorsOfDouble) {
  Profile profile = with_accidental_double();
  code_of(profile).patterns->erase("to_double");
  code_of(profile).patterns->erase("from_double");
  EXPECT_FALSE(finds("accidental_double", profile));
}

TEST(AccidentalDoubleTest, NotForSumsThatStayInDouble) {
  Profile profile = with_accidental_double();
  set_pattern(profile, "from_double", 1000, 1000, 0);
  EXPECT_FALSE(finds("accidental_double", profile));
}

TEST(AccidentalDoubleTest, NotWhereTheTaskComputesInDouble) {
  Profile profile = with_accidental_double();
  profile.work = DeclaredWork{1e9, 1e9, 1e9, "f64", 1};
  EXPECT_FALSE(finds("accidental_double", profile));
  profile.work->type = "f32";
  EXPECT_TRUE(finds("accidental_double", profile));
}

TEST(AccidentalDoubleTest, NotForAScaleThatIsComputedOnce) {
  Profile profile = with_accidental_double();
  set_pattern(profile, "to_double", 1e4, 1e4, 10);
  set_pattern(profile, "from_double", 1e4, 1e4, 10);
  set_pattern(profile, "double", 0, 1e6, 100);
  EXPECT_FALSE(finds("accidental_double", profile));
}

TEST(AccidentalDoubleTest, NotWhereMemoryIsTheLimit) {
  Profile profile = with_accidental_double();
  set(profile, figure::dram_use, 0.88);
  set(profile, figure::special_use, 0.1);
  EXPECT_FALSE(finds("accidental_double", profile));
}

// A sum that is meant to be in double has more instructions.
TEST(AccidentalDoubleTest, NamesTheLinesThatConvert) {
  Profile profile = with_accidental_double();
  auto& patterns = *code_of(profile).patterns;
  patterns["to_double"].places = {{"kernel.cu", 61}};
  patterns["double"].places = {{"kernel.cu", 62}, {"kernel.cu", 61}};
  EXPECT_EQ(run_tool("accidental_double", profile).findings.at(0).places.at(0).line, 61);
}

}  // namespace
}  // namespace kernelpro
