#include "coordinator/report/verdict_text.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Timing timed(double speedup, Interval interval, Comparison comparison = Comparison::faster) {
  Timing timing;
  timing.speedup = speedup;
  timing.speedup_interval = interval;
  timing.comparison = comparison;
  return timing;
}

TEST(CompareSpeed, OverlappingNarrowIntervalsConfirm) {
  EXPECT_EQ(compare_speed(timed(2, {1.95, 2.05}), timed(2.08, {2.04, 2.12})),
            SpeedClaim::confirmed);
}

TEST(CompareSpeed, DisjointIntervalsDifferHoweverWide) {
  EXPECT_EQ(compare_speed(timed(2, {1.95, 2.05}), timed(3, {2.1, 4})), SpeedClaim::differs);
}

TEST(CompareSpeed, OverlapWithAWideIntervalCannotTell) {
  const Timing narrow = timed(2, {1.95, 2.05});
  const Timing wide = timed(2, {1.85, 2.2});
  EXPECT_EQ(compare_speed(narrow, wide), SpeedClaim::cannot_tell);
  EXPECT_EQ(compare_speed(wide, narrow), SpeedClaim::cannot_tell);
}

TEST(CompareSpeed, AtLeastIsConfirmedByMoreAndRefutesNothing) {
  Timing least = timed(6, {5.9, 6.1});
  least.at_least = true;
  const Timing more = timed(7, {6.9, 7.1});
  const Timing less = timed(4, {3.9, 4.1});
  EXPECT_EQ(compare_speed(least, more), SpeedClaim::confirmed);
  EXPECT_EQ(compare_speed(least, less), SpeedClaim::differs);
  EXPECT_EQ(compare_speed(more, least), SpeedClaim::cannot_tell);
  EXPECT_EQ(compare_speed(less, least), SpeedClaim::differs);
}

TEST(CompareSpeed, AtLeastRefutesWhatNoPairShows) {
  Timing least = timed(6, {5.9, 6.1});
  least.at_least = true;
  EXPECT_EQ(compare_speed(timed(50, {49.5, 50.5}), least), SpeedClaim::differs);
  ShapeTiming shape;
  shape.at_least = true;
  shape.incumbent_ns = 2e6;
  shape.incumbent_alone_ns = 1e6;
  least.shapes = {shape};
  EXPECT_EQ(compare_speed(timed(12, {11.9, 12.1}), least), SpeedClaim::cannot_tell);
  EXPECT_EQ(compare_speed(timed(50, {49.5, 50.5}), least), SpeedClaim::differs);
}

TEST(CompareCertificates, AnExaggeratedSpeedUpMattersOnTheSameKindOfMachine) {
  const auto speed_matters = [](double before_speedup, const std::string& processor) {
    Certificate before;
    before.verdict.timing = timed(before_speedup, {before_speedup - 0.1, before_speedup + 0.1});
    Certificate now;
    now.machine.processor = processor;
    now.verdict.timing = timed(5.6, {5.5, 5.7});
    for (const Difference& difference : compare_certificates(before, now)) {
      if (difference.what == "speed-up") {
        return difference.matters;
      }
    }
    return false;
  };
  EXPECT_TRUE(speed_matters(50, ""));
  EXPECT_FALSE(speed_matters(6.5, ""));
  EXPECT_FALSE(speed_matters(5.6, ""));
  EXPECT_FALSE(speed_matters(4, ""));
  EXPECT_FALSE(speed_matters(50, "another"));
}

TEST(CompareSpeed, WhatWasNotTimedMakesNoClaim) {
  EXPECT_EQ(compare_speed(timed(2, {1, 3}), Timing()), SpeedClaim::not_timed);
  EXPECT_EQ(compare_speed(Timing(), timed(2, {1, 3})), SpeedClaim::not_timed);
}

TEST(CompareCertificates, ThreadsAreComparedWhereTheyWereRecorded) {
  Certificate before;
  Certificate now;
  now.threads = 2;
  EXPECT_THAT(compare_certificates(before, now), IsEmpty());
  before.threads = 4;
  const std::vector<Difference> differences = compare_certificates(before, now);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().what, "threads");
  EXPECT_FALSE(differences.front().matters);
}

TEST(EvaluationText, SaysAtLeastAndWhyAndWhatMoreThanTheBoundMeans) {
  Evaluated evaluated;
  Verdict& verdict = evaluated.certificate.verdict;
  verdict.outcome = Outcome::passed;
  verdict.remarks = {"the machine was busy"};
  verdict.timing = timed(6.31, {6.2, 6.4});
  verdict.timing.at_least = true;
  ShapeTiming shape;
  shape.speedup = 6.31;
  shape.at_least = true;
  shape.candidate_ns = 1e6;
  shape.incumbent_ns = 9e6;
  shape.incumbent_alone_ns = 6.31e6;
  shape.candidate_rounds = {1e6};
  shape.share_of_bound = 2.64;
  verdict.timing.shapes = {shape};
  const std::string text = evaluation_text(evaluated);
  EXPECT_THAT(text, AllOf(HasSubstr("  remark: the machine was busy\n"), HasSubstr("6.31 ms alone"),
                          HasSubstr("at least 6.310"), HasSubstr("over 100 %"),
                          HasSubstr("it does less work than the task"), Not(HasSubstr("264 %"))));
  EXPECT_THAT(verdict_table({evaluated}), HasSubstr("at least 6.31 [6.20, 6.40]"));
}

TEST(EvaluationText, AShapeAtWhichItFailedBeforeItWasTimedHasNoTimes) {
  Evaluated evaluated;
  evaluated.certificate.verdict.outcome = Outcome::incorrect;
  evaluated.certificate.verdict.timing.shapes.emplace_back();
  EXPECT_THAT(evaluation_text(evaluated), Not(HasSubstr("candidate  incumbent")));
}

TEST(EvaluationText, DoesNotLetCandidatesSpeakToTheTerminal) {
  Evaluated evaluated;
  evaluated.certificate.candidate.name = "a\x1b[2Jb";
  evaluated.implementation = "lib\x1b]0;x\x07";
  Verdict& verdict = evaluated.certificate.verdict;
  verdict.summary = "error: \x1b[31mred";
  verdict.evidence = {"it printed:\n\tone\x1b[1m\ntwo\r"};
  verdict.suspicions = {"\x1b[0m"};
  const std::string text = evaluation_text(evaluated);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\r")),
                          HasSubstr("error: ?[31mred\n"),
                          HasSubstr("  - it printed:\n    \tone?[1m\n    two")));
  EXPECT_THAT(verdict_table({evaluated}), HasSubstr("a?[2Jb"));
}

}  // namespace
}  // namespace kernelpro
