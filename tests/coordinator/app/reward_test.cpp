#include "coordinator/app/reward.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kernelpro {
namespace {

Verdict timed(Comparison comparison, double speedup, Interval interval) {
  Verdict verdict;
  verdict.outcome = Outcome::passed;
  verdict.timing.comparison = comparison;
  verdict.timing.speedup = speedup;
  verdict.timing.speedup_interval = interval;
  return verdict;
}

TEST(RewardTest, WhatIsFasterIsWorthWhatIsSureOfIt) {
  EXPECT_DOUBLE_EQ(*reward_of(timed(Comparison::faster, 4.4, {4, 5}), true).value, 3);
  EXPECT_DOUBLE_EQ(*reward_of(timed(Comparison::faster, 99, {98, 100}), true).value, 6);
  EXPECT_DOUBLE_EQ(*reward_of(timed(Comparison::same, 1.01, {0.99, 1.03}), true).value, 1);
  EXPECT_DOUBLE_EQ(*reward_of(timed(Comparison::slower, 0.5, {0.4, 0.6}), true).value, 0.1);
  EXPECT_GT(*reward_of(timed(Comparison::slower, 0.9, {0.8, 0.95}), true).value, 0.8);
  EXPECT_DOUBLE_EQ(*reward_of(timed(Comparison::not_timed, 0, {}), false).value, 1);
}

TEST(RewardTest, FailuresAreWorthNothingAndCheatingLess) {
  Verdict verdict;
  for (const Outcome outcome : {Outcome::build_failed, Outcome::crashed, Outcome::incorrect}) {
    verdict.outcome = outcome;
    EXPECT_DOUBLE_EQ(*reward_of(verdict, true).value, 0);
  }
  verdict.outcome = Outcome::cheated;
  EXPECT_DOUBLE_EQ(*reward_of(verdict, false).value, -1);
  Verdict lower = timed(Comparison::faster, 4, {4, 4});
  lower.precision = "tf32";
  EXPECT_DOUBLE_EQ(*reward_of(lower, true).value, 0);
}

TEST(RewardTest, NothingIsLearnedFromWhatIsInDoubt) {
  Verdict verdict;
  EXPECT_FALSE(reward_of(verdict, true).value);  // not judged
  Verdict suspect = timed(Comparison::faster, 4, {4, 4});
  suspect.suspect = true;
  EXPECT_FALSE(reward_of(suspect, true).value);
  Verdict unverified = timed(Comparison::faster, 4, {4, 4});
  unverified.verified = false;
  EXPECT_FALSE(reward_of(unverified, true).value);
  EXPECT_FALSE(reward_of(timed(Comparison::not_timed, 0, {}), true).value);
  EXPECT_TRUE(to_json(reward_of(suspect, true))["value"].is_null());
  EXPECT_EQ(to_json(reward_of(suspect, true))["formula"], "kernelpro-1");
}

}  // namespace
}  // namespace kernelpro
