#include "coordinator/report/kernelbench_comparison.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "coordinator/report/suite_records.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::solved_record;
using testing::suite_record;

// Problems 1, 2, … of level 1, solved in those times.
std::vector<SuiteRecord> solved_in(const std::vector<double>& times) {
  std::vector<SuiteRecord> records;
  int number = 0;
  for (const double time : times) {
    records.push_back(solved_record({1, ++number}, time));
  }
  return records;
}

SuiteComparison compared(const std::vector<SuiteRecord>& here,
                         const std::vector<SuiteRecord>& there) {
  const Result<SuiteComparison> comparison = compare_suites(here, there, false);
  EXPECT_TRUE(comparison.ok()) << comparison.error().text();
  return comparison.ok() ? *comparison : SuiteComparison();
}

TEST(SignTest, IsTheTwoSidedBinomial) {
  EXPECT_NEAR(sign_test(6, 0), 2.0 / 64, 1e-12);
  EXPECT_NEAR(sign_test(1, 7), 2 * 9.0 / 256, 1e-12);
  EXPECT_NEAR(sign_test(8, 2), 2 * 56.0 / 1024, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test(4, 4), 1);
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
  EXPECT_NEAR(sign_test(0, 2000), 0, 1e-300);
}

TEST(SuiteComparison, AConstantFactorIsFoundExactly) {
  const SuiteComparison comparison =
      compared(solved_in({10, 20, 30, 40, 50, 60}), solved_in({20, 40, 60, 80, 100, 120}));
  EXPECT_TRUE(comparison.of_candidates);
  EXPECT_NEAR(comparison.ratio, 2, 1e-9);
  EXPECT_NEAR(comparison.interval.low, 2, 1e-9);
  EXPECT_NEAR(comparison.interval.high, 2, 1e-9);
  EXPECT_TRUE(comparison.differ());
  EXPECT_EQ(comparison.faster, 6U);
  EXPECT_NEAR(comparison.sign_p, 2.0 / 64, 1e-12);
  EXPECT_THAT(
      comparison_text(comparison, "mine", "theirs"),
      HasSubstr("mine is 2.000 times as fast as theirs, 95 % interval [2.000, 2.000] over 6 "
                "problems: mine is the faster of the two\n"));
}

TEST(SuiteComparison, SlowerIsSaidOfTheOther) {
  const SuiteComparison comparison =
      compared(solved_in({20, 40, 60, 80, 100, 120}), solved_in({10, 20, 30, 40, 50, 60}));
  EXPECT_NEAR(comparison.ratio, 0.5, 1e-9);
  EXPECT_EQ(comparison.slower, 6U);
  EXPECT_THAT(comparison_text(comparison, "mine", "theirs"),
              HasSubstr("theirs is the faster of the two"));
}

TEST(SuiteComparison, NoDifferenceIsSaidPlainly) {
  const SuiteComparison comparison =
      compared(solved_in({10, 20, 10, 20, 10, 20}), solved_in({20, 10, 20, 10, 20, 10}));
  EXPECT_NEAR(comparison.ratio, 1, 1e-9);
  EXPECT_LT(comparison.interval.low, 1);
  EXPECT_GT(comparison.interval.high, 1);
  EXPECT_FALSE(comparison.differ());
  EXPECT_EQ(comparison.faster, 3U);
  EXPECT_EQ(comparison.slower, 3U);
  EXPECT_THAT(comparison_text(comparison, "mine", "theirs"),
              HasSubstr("no difference can be shown"));
}

TEST(SuiteComparison, FewProblemsShowNothing) {
  const SuiteComparison comparison =
      compared(solved_in({10, 20, 30, 40, 50}), solved_in({90, 180, 270, 360, 450}));
  EXPECT_NEAR(comparison.ratio, 9, 1e-9);
  EXPECT_EQ(comparison.interval.high, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(comparison.differ());
  EXPECT_THAT(comparison_text(comparison, "mine", "theirs"),
              HasSubstr("geometric mean 9.000 over 5 problems; no difference can be shown: that "
                        "takes 6 problems\n"));
  EXPECT_EQ(comparison_json(comparison)["interval"], nullptr);
}

TEST(SuiteComparison, WithinTheNoiseFloorIsTheSame) {
  std::vector<SuiteRecord> here = solved_in({100, 100, 100});
  here[1].candidate->noise_floor = 0.1;
  const SuiteComparison comparison = compared(here, solved_in({100.5, 105, 105}));
  EXPECT_EQ(comparison.same, 2U);
  EXPECT_EQ(comparison.faster, 1U);
}

TEST(SuiteComparison, WhatOnlyOneSolvedIsNamed) {
  std::vector<SuiteRecord> here = solved_in({10, 10, 10});
  std::vector<SuiteRecord> there = solved_in({10, 10, 10, 10});
  here[0].candidate->outcome = Outcome::incorrect;
  there[1].candidate.reset();
  there[2].candidate->suspect = true;
  const SuiteComparison comparison = compared(here, there);
  EXPECT_EQ(comparison.in_both, 3U);
  EXPECT_THAT(comparison.only_here, ElementsAre(ProblemId{1, 2}, ProblemId{1, 3}));
  EXPECT_THAT(comparison.only_there, ElementsAre(ProblemId{1, 1}));
  const std::string text = comparison_text(comparison, "mine", "theirs");
  EXPECT_THAT(text, HasSubstr("3 problems in both, 0 solved by both\n"));
  EXPECT_THAT(text, HasSubstr("solved only in mine, 2: 1_2, 1_3\n"));
  EXPECT_THAT(text, HasSubstr("solved only in theirs, 1: 1_1\n"));
}

TEST(SuiteComparison, BaselinesAreComparedWhereNeitherHasCandidates) {
  const SuiteComparison comparison = compared({suite_record({1, 1}, {{"eager-fp32", 100}})},
                                              {suite_record({1, 1}, {{"eager-fp32", 300}})});
  EXPECT_FALSE(comparison.of_candidates);
  EXPECT_NEAR(comparison.ratio, 3, 1e-9);
  EXPECT_EQ(comparison_json(comparison)["of"], "eager-fp32");
}

TEST(SuiteComparison, NothingInCommonIsAnError) {
  const Result<SuiteComparison> apart =
      compare_suites(solved_in({10}), {solved_record({2, 1}, 10)}, false);
  ASSERT_FALSE(apart.ok());
  EXPECT_EQ(apart.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(apart.error().text(), HasSubstr("no problem in common"));
  const Result<SuiteComparison> uneven =
      compare_suites(solved_in({10}), {suite_record({1, 1}, {{"eager-fp32", 100}})}, false);
  ASSERT_FALSE(uneven.ok());
  EXPECT_THAT(uneven.error().text(), HasSubstr("the file of --into holds candidates"));
}

}  // namespace
}  // namespace kernelpro
