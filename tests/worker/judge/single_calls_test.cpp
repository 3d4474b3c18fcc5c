// What calls by themselves confirm of what rounds save, with figures as measured on an H200.
#include "worker/judge/single_calls.hpp"

#include <gmock/gmock.h>

#include "worker/judge/timing.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Gt;
using ::testing::Lt;

constexpr double us = 1000;

// Saves that much by themselves, as one pair of processes shows it, by medians known to 0.2 us.
SingleSaving saves(double ns) {
  SingleSaving saving{ns, 0.2 * us};
  saving.gated = true;
  return saving;
}

// A comparison without any doubt about overlap yet.
ShapeTiming compared(double candidate_ns, double incumbent_ns, Interval speedup, double budget) {
  ShapeTiming timing;
  timing.candidate_ns = candidate_ns;
  timing.incumbent_ns = incumbent_ns;
  timing.speedup_interval = speedup;
  timing.budget.noise = budget;
  timing.comparison = Comparison::same;
  return timing;
}

// Recorded: calls of 7 us that overlap, with forged stamps.
ShapeTiming forged_at_7_us() {
  return compared(7.0 * us / 1.28, 7.0 * us, {1.23, 1.37}, 0.050);
}

// Recorded: all calls of 17 us in one kernel, with forged stamps.
ShapeTiming forged_at_17_us() {
  return compared(17.0 * us / 1.0972, 17.0 * us, {1.0911, 1.0992}, 0.0259);
}

// What the interval's lower end may be and counts as caught: the twin is as fast as the incumbent.
double caught_up_to(const ShapeTiming& timing) {
  return 1 + timing.budget.total();
}

TEST(SingleCalls, WhatOverlapGainsIsAllInTheDoubt) {
  for (ShapeTiming timing : {forged_at_7_us(), forged_at_17_us()}) {
    SCOPED_TRACE(timing.incumbent_ns);
    ASSERT_THAT(timing.speedup_interval.low, Gt(caught_up_to(timing))) << "without this";
    count_savings(timing, {saves(0)});
    EXPECT_THAT(timing.budget.overlap,
                DoubleNear(timing.incumbent_ns / timing.candidate_ns - 1, 1e-12));
    EXPECT_THAT(timing.speedup_interval.low, Lt(caught_up_to(timing)));
    EXPECT_EQ(timing.comparison, Comparison::same);
  }
}

TEST(SingleCalls, AProcessThatIsBetterByOneMicrosecondHidesNoOverlap) {
  for (ShapeTiming timing : {forged_at_7_us(), forged_at_17_us()}) {
    SCOPED_TRACE(timing.incumbent_ns);
    count_savings(timing, {saves(1.0 * us)});
    EXPECT_THAT(timing.speedup_interval.low, Lt(caught_up_to(timing)));
    // On average of three they differ less: by half a microsecond in most cases.
    count_savings(timing, {saves(1.0 * us), saves(0.2 * us), saves(0.3 * us)});
    EXPECT_THAT(timing.speedup_interval.low, Lt(caught_up_to(timing)));
  }
}

TEST(SingleCalls, WhoIsAsFastAsTheIncumbentHasNoDoubtWhateverTheProcessesShow) {
  for (const double saved_ns : {-2.2 * us, 0.0, 2.2 * us}) {
    EXPECT_EQ(unconfirmed_share(7.0 * us, 7.0 * us, {saves(saved_ns)}), 0);
    EXPECT_EQ(unconfirmed_share(7.2 * us, 7.0 * us, {saves(saved_ns)}), 0);
    EXPECT_THAT(unconfirmed_share(6.97 * us, 7.0 * us, {saves(saved_ns)}), Lt(0.005));
  }
}

TEST(SingleCalls, AGainThatTheyConfirmIsBelieved) {
  // 17 us against 20.2: as honest_vector_tail.cu was.
  ShapeTiming timing = compared(17.0 * us, 20.2 * us, {1.181, 1.193}, 0.024);
  count_savings(timing, {saves(3.2 * us)});
  EXPECT_EQ(timing.comparison, Comparison::faster);
  EXPECT_THAT(timing.budget.overlap, Lt(0.1));
}

TEST(SingleCalls, MoreProcessesLeaveLessDoubt) {
  // 1.3 times as fast at 7 us: one pair of processes cannot tell it from overlap, three can.
  ShapeTiming timing = compared(5.4 * us, 7.0 * us, {1.28, 1.31}, 0.045);
  count_savings(timing, {saves(1.6 * us)});
  EXPECT_EQ(timing.comparison, Comparison::same);
  EXPECT_TRUE(hangs_on_singles(timing));
  count_savings(timing, {saves(1.6 * us), saves(1.2 * us), saves(2.0 * us)});
  EXPECT_EQ(timing.comparison, Comparison::faster);
  EXPECT_FALSE(hangs_on_singles(timing));
}

TEST(SingleCalls, NothingHangsOnThemWhereThereIsNoGainBeyondTheOtherDoubts) {
  ShapeTiming timing = compared(6.9 * us, 7.0 * us, {1.0, 1.03}, 0.045);
  count_savings(timing, {saves(-1.0 * us)});
  EXPECT_THAT(timing.budget.overlap, Gt(0));
  EXPECT_FALSE(hangs_on_singles(timing));
}

TEST(SingleCalls, NothingMeasuredConfirmsNothing) {
  EXPECT_DOUBLE_EQ(unconfirmed_share(5.0 * us, 7.0 * us, {}), 0.4);
  EXPECT_DOUBLE_EQ(unconfirmed_share(500 * us, 700 * us, {}), 0.4) << "however long its calls are";
}

TEST(SingleCalls, AddsNothingToTheBudgetOfLongCalls) {
  for (const double call_ns : {32.0 * us, 33.0 * us, 300.0 * us}) {
    EXPECT_EQ(unconfirmed_share(0.97 * call_ns, call_ns, {saves(-2.2 * us)}), 0)
        << "3 % of a call of " << call_ns;
  }
}

SinglePair pair_of(double candidate_wall_ns, double incumbent_wall_ns, double empty_wall_ns) {
  SinglePair single;
  single.pair.of(Side::candidate).wall_ns = candidate_wall_ns;
  single.pair.of(Side::candidate).gated = true;
  single.pair.of(Side::incumbent).wall_ns = incumbent_wall_ns;
  single.pair.of(Side::incumbent).gated = true;
  single.empty.wall_ns = empty_wall_ns;
  return single;
}

constexpr double turns_ns = 290 * us;

TEST(SingleCalls, SavingIsWhatOurClockShowsLessThanForTheIncumbent) {
  std::vector<SinglePair> singles;
  for (const double jitter_ns : {-200.0, 0.0, 200.0, 0.0, -200.0, 0.0, 200.0, 0.0}) {
    singles.push_back(pair_of(turns_ns + 9 * us + jitter_ns, turns_ns + 11 * us, turns_ns));
  }
  const SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  EXPECT_THAT(saving.median_ns, DoubleNear(2 * us, 101));
  EXPECT_THAT(saving.noise_ns, Gt(0));
  EXPECT_THAT(saving.noise_ns, Lt(0.21 * us));
}

TEST(SingleCalls, WhoGoesFirstMakesNoDifference) {
  std::vector<SinglePair> singles;
  for (int i = 0; i < 15; ++i) {
    const double order_ns = i % 2 == 0 ? 1.5 * us : -1.5 * us;
    singles.push_back(pair_of(turns_ns + 9 * us + order_ns, turns_ns + 11 * us, turns_ns));
  }
  const SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  EXPECT_DOUBLE_EQ(saving.median_ns, 2 * us);
  EXPECT_DOUBLE_EQ(saving.noise_ns, 0);
}

TEST(SingleCalls, AClaimHasNoPartInIt) {
  std::vector<SinglePair> singles(15, pair_of(turns_ns + 11 * us, turns_ns + 11 * us, turns_ns));
  for (SinglePair& single : singles) {
    single.pair.of(Side::candidate).claim_ns = 1;
    single.pair.of(Side::incumbent).claim_ns = 10 * us;
  }
  EXPECT_EQ(saving_of(singles, 7 * us, false, 1).median_ns, 0);
}

TEST(SingleCalls, ASlowedEmptyCandidateMakesNothingLookSaved) {
  const std::vector<SinglePair> singles(
      15, pair_of(turns_ns + 11 * us, turns_ns + 11 * us, turns_ns + 100 * us));
  EXPECT_EQ(saving_of(singles, 7 * us, false, 1).median_ns, 0);
}

TEST(SingleCalls, ASlowedIncumbentCountsUpToWhatItsStartCanTake) {
  const std::vector<SinglePair> singles(15,
                                        pair_of(turns_ns + 11 * us, turns_ns + 500 * us, turns_ns));
  EXPECT_THAT(saving_of(singles, 7 * us, false, 1).median_ns, Lt(7 * us));
}

TEST(SingleCalls, ASlowedIncumbentCountsAsItIsAlone) {
  const std::vector<SinglePair> singles(15,
                                        pair_of(turns_ns + 11 * us, turns_ns + 14 * us, turns_ns));
  SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  EXPECT_DOUBLE_EQ(saving.median_ns, 3 * us);
  hold_against_alone(saving, {20 * us, turns_ns, 0});
  EXPECT_DOUBLE_EQ(saving.median_ns, 3 * us) << "slower alone proves nothing";
  hold_against_alone(saving, {});
  EXPECT_DOUBLE_EQ(saving.median_ns, 3 * us) << "nor what is not known";
  hold_against_alone(saving, {11 * us, turns_ns, 0});
  EXPECT_DOUBLE_EQ(saving.median_ns, 0);
}

TEST(SingleCalls, AnIncumbentThatIsSlowedWhereItComesSecondCountsAsItIsAloneToo) {
  std::vector<SinglePair> singles;
  for (int i = 0; i < 15; ++i) {
    singles.push_back(
        pair_of(turns_ns + 11 * us, turns_ns + (i % 2 == 0 ? 11 : 15) * us, turns_ns));
  }
  SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  hold_against_alone(saving, {11 * us, turns_ns, 0});
  EXPECT_DOUBLE_EQ(saving.median_ns, 0);
}

// What is slowed alike is not seen in their difference.
TEST(SingleCalls, AnIncumbentThatIsSlowedLikeTheEmptyCandidateCountsAsItIsAlone) {
  const std::vector<SinglePair> singles(
      15, pair_of(turns_ns + 11 * us, turns_ns + 14 * us, turns_ns + 3 * us));
  SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  ASSERT_DOUBLE_EQ(saving.median_ns, 3 * us);
  hold_against_alone(saving, {11 * us, turns_ns, 0.5 * us});
  EXPECT_DOUBLE_EQ(saving.median_ns, 0.5 * us) << "what the empty candidate's differ by is doubt";
}

TEST(SingleCalls, AnEmptyCandidateThatIsSlowedByItselfCostsNothing) {
  const std::vector<SinglePair> singles(
      15, pair_of(turns_ns + 9 * us, turns_ns + 11 * us, turns_ns + 3 * us));
  SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  hold_against_alone(saving, {11 * us, turns_ns, 0.5 * us});
  EXPECT_DOUBLE_EQ(saving.median_ns, 2 * us);
}

TEST(SingleCalls, WhomNoGateHoldsBackMayWorkWhileItIsHandedOverTo) {
  SinglePair single = pair_of(500 * us + 7 * us, turns_ns + 11 * us, 505 * us);
  single.pair.of(Side::candidate).gated = false;
  const SingleSaving saving = saving_of(std::vector<SinglePair>(15, single), 7 * us, false, 1);
  EXPECT_FALSE(saving.gated);
  EXPECT_DOUBLE_EQ(saving.median_ns, -500 * us) << "all of the hand-over counts";
}

TEST(SingleCalls, NeitherIsConfirmedWhereNoGateHoldsEitherBack) {
  SinglePair single = pair_of(505 * us, 511 * us, 500 * us);
  single.pair.of(Side::candidate).gated = false;
  single.pair.of(Side::incumbent).gated = false;
  const SingleSaving saving = saving_of(std::vector<SinglePair>(15, single), 11 * us, false, 1);
  EXPECT_DOUBLE_EQ(unconfirmed_share(5 * us, 11 * us, {saving}), 6.0 / 5);
}

TEST(SingleCalls, LongCallsWithoutAGateAreConfirmedButForTheHandOver) {
  SinglePair single = pair_of(1150 * us, 2150 * us, 150 * us);
  single.pair.of(Side::candidate).gated = false;
  SingleSaving saving = saving_of(std::vector<SinglePair>(15, single), 2000 * us, false, 1);
  const double share = unconfirmed_share(1000 * us, 2000 * us, {saving});
  EXPECT_THAT(share, AllOf(Gt(0.13), Lt(0.17)));
  saving.gated = true;
  EXPECT_EQ(unconfirmed_share(1000 * us, 2000 * us, {saving}), 0) << "behind a gate it is left out";
}

TEST(SingleCalls, ASlowedEmptyCandidateIsDoubtInLongCallsToo) {
  ShapeTiming timing = compared(30 * us, 60 * us, {1.95, 2.05}, 0.02);
  SingleSaving saving = saves(30 * us);
  saving.empty_slowed_ns = 32.2 * us;
  count_savings(timing, {saving});
  EXPECT_DOUBLE_EQ(timing.budget.overlap, 1);
  EXPECT_EQ(timing.comparison, Comparison::same);
  saving.empty_slowed_ns = 2.2 * us;
  count_savings(timing, {saving});
  EXPECT_EQ(timing.budget.overlap, 0) << "what is left out in calls as long as these";
}

TEST(SingleCalls, AloneIsWhatBothArmsShowThroughTheirGates) {
  Round empty;
  empty.wall_ns = turns_ns;
  empty.gated = true;
  Round call = empty;
  call.wall_ns += 11 * us;
  const SinglesAlone alone = alone_of({call, call, call}, {empty, empty, empty}, true);
  EXPECT_DOUBLE_EQ(alone.incumbent_ns, 11 * us);
  EXPECT_DOUBLE_EQ(alone.empty_ns, turns_ns);
  EXPECT_EQ(alone.empty_spread_ns, 0);
  EXPECT_EQ(alone_of({call}, {empty}, false).empty_ns, 0) << "on another clock";
  call.gated = false;
  EXPECT_EQ(alone_of({call}, {empty}, true).incumbent_ns, 0);
  EXPECT_DOUBLE_EQ(alone_of({call}, {empty}, true).empty_ns, turns_ns);
}

TEST(SingleCalls, TheyCountOnlyWhereTheyDecide) {
  ShapeTiming timing = compared(5.4 * us, 7.0 * us, {1.28, 1.31}, 0.045);
  count_savings(timing, {saves(0)});
  EXPECT_TRUE(single_calls_count(timing)) << "it hangs on them";
  timing.comparison = Comparison::faster;
  EXPECT_TRUE(single_calls_count(timing));
  timing.comparison = Comparison::slower;
  EXPECT_FALSE(single_calls_count(timing));
}

TEST(SingleCalls, TheyCountWhereASlowedIncumbentLeftNothingUnconfirmed) {
  ShapeTiming timing = compared(5.4 * us, 7.0 * us, {1.28, 1.31}, 0.045);
  const std::vector<SinglePair> singles(15,
                                        pair_of(turns_ns + 11 * us, turns_ns + 15 * us, turns_ns));
  SingleSaving saving = saving_of(singles, 7 * us, false, 1);
  count_savings(timing, {saving});
  ASSERT_EQ(timing.budget.overlap, 0);
  ASSERT_EQ(timing.comparison, Comparison::faster);
  EXPECT_TRUE(single_calls_count(timing));
  hold_against_alone(saving, {11 * us, turns_ns, 0});
  count_savings(timing, {saving});
  EXPECT_EQ(timing.comparison, Comparison::same);
}

TEST(SingleCalls, AgainstPyTorchTheLeastThatComputingTakesIsTakenOff) {
  SinglePair single = pair_of(turns_ns + 7 * us + 3.3 * us, 7 * us, turns_ns);
  single.pair.of(Side::incumbent).gated = false;
  EXPECT_DOUBLE_EQ(saving_of(std::vector<SinglePair>(15, single), 7 * us, true, 1).median_ns, 0);
}

}  // namespace
}  // namespace kernelpro
