#include "coordinator/report/verdict_text.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::IsEmpty;

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

}  // namespace
}  // namespace kernelpro
