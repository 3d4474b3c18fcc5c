// What the runner claims against what our clock saw.
#include <gmock/gmock.h>

#include "worker/judge/round_log.hpp"

namespace kernelpro {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;

constexpr double null_ns = 10'000;
constexpr double work_ns = 1'000'000;

// A hand-over of 10 us, steady to 100 ns.
constexpr NullClock steady = {null_ns, 100, 0};

Round round(double claim_ns, double worked_ns, double delay_ns = 0) {
  Round one;
  one.claim_ns = claim_ns;
  one.wall_ns = null_ns + worked_ns + delay_ns;
  one.delay_ns = delay_ns;
  one.busy_ns = delay_ns;
  return one;
}

TEST(Clock, BelievesClaimsThatAgreeWithIt) {
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns, work_ns)), steady, steady);
  EXPECT_THAT(check.gap, DoubleNear(0, 1e-12));
  EXPECT_FALSE(check.proves_lie());
  EXPECT_THAT(check.believed_ns, Each(work_ns));
  EXPECT_EQ(check.waiting, 0);
}

// A round that is as long as all must be hides nothing of note in its hand-over; one of a candidate
// that is much faster than the baseline does.
TEST(Clock, DoubtsWhatHandingOverMayHide) {
  const auto hidden = [](double worked_ns) {
    return check_clock(std::vector<Round>(10, round(worked_ns, worked_ns)), steady, steady)
        .hand_over;
  };
  EXPECT_EQ(hidden(null_ns / 0.005), 0);
  EXPECT_THAT(hidden(null_ns / 0.1), DoubleNear(0.095, 1e-9));
  Round ours = round(work_ns / 100, work_ns / 100);
  ours.trusted = true;
  EXPECT_EQ(check_clock(std::vector<Round>(10, ours), steady, steady).hand_over, 0);
}

TEST(Clock, ProvesALieOfHalfTheTimeInAllRounds) {
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns / 2, work_ns)), steady, steady);
  EXPECT_THAT(check.gap, DoubleNear(0.5, 1e-12));
  EXPECT_TRUE(check.proves_lie());
  EXPECT_THAT(check.believed_ns, Each(work_ns));
}

TEST(Clock, GivesNothingToALiarInSixtyPercentOfTheRounds) {
  std::vector<Round> rounds(4, round(work_ns, work_ns));
  rounds.insert(rounds.end(), 6, round(work_ns / 2, work_ns));
  EXPECT_THAT(check_clock(rounds, steady, steady).believed_ns, Each(work_ns));
}

TEST(Clock, GivesNothingToClaimsOfZero) {
  const ClockCheck check = check_clock(std::vector<Round>(10, round(0, work_ns)), steady, steady);
  EXPECT_TRUE(check.proves_lie());
  EXPECT_THAT(check.believed_ns, Each(work_ns));
}

TEST(Clock, AccusesNobodyWhenWaitingForAProcessorExplainsTheGap) {
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns, work_ns, work_ns)), steady, steady);
  EXPECT_THAT(check.gap, DoubleNear(0, 1e-12));
  EXPECT_FALSE(check.proves_lie());
  EXPECT_THAT(check.waiting, DoubleNear(work_ns / (2 * work_ns + null_ns), 1e-12));
}

TEST(Clock, AccusesNobodyWhoseOtherThreadsWaitedForAProcessorButCountsTheTime) {
  Round waited = round(work_ns, 2 * work_ns);
  waited.others_ns = work_ns;
  const ClockCheck check = check_clock(std::vector<Round>(10, waited), steady, steady);
  EXPECT_FALSE(check.proves_lie());
  EXPECT_THAT(check.believed_ns, Each(2 * work_ns));
}

TEST(Clock, ProvesALieOnABusyMachineToo) {
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns / 4, work_ns, work_ns / 2)), steady, steady);
  EXPECT_THAT(check.gap, DoubleNear(0.5, 1e-12));
  EXPECT_TRUE(check.proves_lie());
}

TEST(Clock, AccusesNobodyWithinTheNoiseOfTheHandOver) {
  // The hand-over varies by a fifth of the work: a tenth of it missing proves nothing.
  const NullClock noisy = {null_ns, work_ns / 5, 0};
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(0.9 * work_ns, work_ns)), noisy, noisy);
  EXPECT_THAT(check.noise, DoubleNear(0.6, 1e-12));
  EXPECT_FALSE(check.proves_lie());
}

TEST(Clock, AccusesNobodyOfWhatStoppingItsThreadsMayTake) {
  const double missing_ns = 100'000;
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns - missing_ns, work_ns)), steady, steady);
  EXPECT_THAT(check.gap, DoubleNear(0.1, 1e-12));
  EXPECT_FALSE(check.proves_lie());
  EXPECT_THAT(check.believed_ns, Each(work_ns)) << "our clock counts all the same";
}

// Empty rounds of 10 us that a candidate makes take 210 us: its own would seem shorter by as much.
constexpr NullClock slowed = {null_ns + 200'000, 100, 0};

TEST(Clock, ASlowedEmptyRoundMakesACandidateNoFaster) {
  const std::vector<Round> rounds(10, round(work_ns - 200'000, work_ns));
  EXPECT_THAT(check_clock(rounds, slowed, steady).believed_ns, Each(work_ns));
  EXPECT_THAT(check_clock(rounds, steady, slowed).believed_ns, Each(work_ns))
      << "of two the smaller counts, whichever it is";
}

TEST(Clock, ASlowedEmptyRoundWidensNothing) {
  const NullClock spread = {null_ns, work_ns / 5, 0};
  const std::vector<Round> rounds(10, round(work_ns, work_ns));
  const ClockCheck check = check_clock(rounds, spread, steady);
  EXPECT_DOUBLE_EQ(check.tolerance, check_clock(rounds, steady, steady).tolerance);
  EXPECT_DOUBLE_EQ(check.empty, steady.spread_ns / work_ns);
}

TEST(Clock, AccusesByTheEmptyRoundsBesideTheCandidates) {
  // The machine has become slower since: what is missing was not hidden.
  const NullClock slow_now = {null_ns + 500'000, 100, 0};
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(work_ns, work_ns + 500'000)), slow_now, steady);
  EXPECT_FALSE(check.proves_lie());
  EXPECT_THAT(check.gap, DoubleNear(0, 1e-12));
}

TEST(Clock, TakesOnTrustNoMoreThanAnAccusationNeeds) {
  const NullClock noisy = {null_ns, work_ns / 5, 0};
  const std::vector<Round> rounds(10, round(0.9 * work_ns, work_ns));
  const ClockCheck check = check_clock(rounds, noisy, noisy);
  EXPECT_DOUBLE_EQ(check.tolerance, ClockCheck::proof);
  EXPECT_THAT(check.believed_ns, Each(work_ns));
}

// Hand-overs that differ by 5 us: of a millisecond, 1.5 % may be missing from one round and 0.5 %
// from all of them.
constexpr NullClock varying = {null_ns, 5'000, 0};

TEST(Clock, BelievesClaimsThatDifferFromItEitherWay) {
  std::vector<Round> rounds;
  for (int i = 0; i < 10; ++i) {
    rounds.push_back(round(work_ns * (i % 2 == 0 ? 0.988 : 1.012), work_ns));
  }
  const ClockCheck check = check_clock(rounds, varying, varying);
  EXPECT_DOUBLE_EQ(check.tolerance, 0.005);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(check.believed_ns[i], rounds[i].claim_ns);
  }
}

TEST(Clock, BelievesNoneWhereALittleIsMissingFromAll) {
  const std::vector<Round> rounds(10, round(0.99 * work_ns, work_ns));
  EXPECT_THAT(check_clock(rounds, varying, varying).believed_ns, Each(work_ns));
}

TEST(Clock, BelievesNoneWhereALittleIsMissingFromSome) {
  std::vector<Round> rounds(6, round(work_ns, work_ns));
  rounds.insert(rounds.end(), 4, round(0.986 * work_ns, work_ns));
  EXPECT_THAT(check_clock(rounds, varying, varying).believed_ns, Each(work_ns));
}

TEST(Clock, OneGrossLieDoesNotHideBehindHonestRounds) {
  std::vector<Round> rounds(99, round(work_ns, work_ns));
  rounds.push_back(round(work_ns / 2, work_ns));
  EXPECT_THAT(check_clock(rounds, varying, varying).believed_ns, Each(work_ns));
}

TEST(Clock, AnIncumbentsClaimCountsUpToOurClock) {
  // One that says it took twice as long would make its rival twice as fast.
  const ClockCheck check =
      check_clock(std::vector<Round>(10, round(2 * work_ns, work_ns)), steady, steady);
  EXPECT_THAT(check.least_ns, Each(work_ns));
  const ClockCheck honest =
      check_clock(std::vector<Round>(10, round(0.99 * work_ns, work_ns)), steady, steady);
  EXPECT_THAT(honest.least_ns, Each(0.99 * work_ns));
}

TEST(Clock, TakesMedianAndQuartilesOfEmptyRounds) {
  std::vector<Round> rounds;
  for (const double wall_ns : {100.0, 200.0, 300.0, 400.0, 500.0}) {
    Round one;
    one.wall_ns = wall_ns;
    one.delay_ns = wall_ns / 10;
    rounds.push_back(one);
  }
  const NullClock null = summarize_null(rounds);
  EXPECT_EQ(null.median_ns, 300);
  EXPECT_EQ(null.spread_ns, 200);
  EXPECT_EQ(null.delay_ns, 30);
}

TEST(Clock, WhatAThreadTooManyDidCountsAsIfThoseGivenHadDoneIt) {
  Exchange answer;
  answer.wall_ns = 1000;
  answer.used_ns = 2000;
  EXPECT_DOUBLE_EQ(overuse(answer, 1), 2);
  EXPECT_DOUBLE_EQ(overuse(answer, 2), 1);
  EXPECT_DOUBLE_EQ(overuse(answer, 4), 1) << "who leaves threads unused gains nothing";
  EXPECT_DOUBLE_EQ(overuse(Exchange{}, 1), 1) << "not known";
}

// Two calls of 0.7 ms at a time; and 20 us that become 100, for threads have to be woken.
TEST(Overlap, IsExplainedByWakingThreadsAndNotByTheNextCall) {
  EXPECT_FALSE(overlap_is_explained(2, 350e3, 2));
  EXPECT_TRUE(overlap_is_explained(5, 20e3, 2));
  EXPECT_TRUE(overlap_is_explained(2, 350e3, 64)) << "more threads take longer to wake";
  EXPECT_TRUE(overlap_is_explained(1.2, 5e6, 2));
  EXPECT_FALSE(overlap_is_explained(1.3, 5e6, 2));
}

}  // namespace
}  // namespace kernelpro
