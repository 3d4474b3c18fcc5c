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
