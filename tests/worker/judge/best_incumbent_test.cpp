// What an incumbent took alone, and what of a speed-up is left then.
#include <gtest/gtest.h>

#include "worker/judge/statistics.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {
namespace {

// Twice as fast in pairs: 2000 ns against 1000, beyond a budget of 2 % of which 1 % is drift.
ShapeTiming twice_as_fast() {
  ShapeTiming timing;
  timing.candidate_ns = 1000;
  timing.incumbent_ns = 2000;
  timing.speedup = 2;
  timing.speedup_interval = {1.9, 2.1};
  timing.budget = {0.005, 0.004, 0.01, 0.001};
  timing.comparison = Comparison::faster;
  return timing;
}

TEST(BestIncumbent, WithinTheDriftChangesNothing) {
  for (const double alone_ns : {2000.0, 1990.0, 2500.0}) {
    SCOPED_TRACE(alone_ns);
    ShapeTiming timing = twice_as_fast();
    count_incumbent_at_its_best(timing, alone_ns);
    EXPECT_EQ(timing.incumbent_alone_ns, alone_ns);
    EXPECT_FALSE(timing.at_least);
    EXPECT_EQ(timing.speedup, 2);
    EXPECT_EQ(timing.speedup_interval.low, 1.9);
    EXPECT_EQ(timing.budget.drift, 0.01);
    EXPECT_EQ(timing.comparison, Comparison::faster);
  }
}

// Just within the drift it is tolerated, just beyond it is counted. Neither gains more.
TEST(BestIncumbent, WhatIsCountedIsNotToleratedAsWell) {
  for (const double low : {1.0195, 1.0205}) {
    SCOPED_TRACE(low);
    std::vector<Comparison> comparisons;
    for (const double beyond : {-1e-5, 1e-5}) {
      ShapeTiming timing = twice_as_fast();
      timing.speedup_interval = {low, 1.05};
      timing.comparison = compare(timing.speedup_interval, timing.budget.total());
      count_incumbent_at_its_best(timing, 2000 / (1 + timing.budget.drift + beyond));
      comparisons.push_back(timing.comparison);
      EXPECT_EQ(timing.at_least, beyond > 0);
    }
    EXPECT_EQ(comparisons[0], comparisons[1]);
  }
}

TEST(BestIncumbent, BeyondTheDriftTheSpeedUpIsAgainstIt) {
  ShapeTiming timing = twice_as_fast();
  count_incumbent_at_its_best(timing, 1500);
  EXPECT_TRUE(timing.at_least);
  EXPECT_DOUBLE_EQ(timing.speedup, 1.5);
  EXPECT_DOUBLE_EQ(timing.speedup_interval.low, 1.9 * 0.75);
  EXPECT_DOUBLE_EQ(timing.speedup_interval.high, 2.1 * 0.75);
  EXPECT_EQ(timing.budget.drift, 0);
  EXPECT_EQ(timing.comparison, Comparison::faster);
}

TEST(BestIncumbent, WhoOnlySlowedItIsNoFaster) {
  ShapeTiming timing = twice_as_fast();
  count_incumbent_at_its_best(timing, 1000);
  EXPECT_TRUE(timing.at_least);
  EXPECT_DOUBLE_EQ(timing.speedup, 1);
  EXPECT_EQ(timing.comparison, Comparison::same);
}

TEST(BestIncumbent, SlownessIsNotProvenByAnIncumbentThatWasSlowerInPairs) {
  ShapeTiming timing = twice_as_fast();
  count_incumbent_at_its_best(timing, 500);
  EXPECT_DOUBLE_EQ(timing.speedup, 0.5);
  EXPECT_EQ(timing.comparison, Comparison::same);

  ShapeTiming same = twice_as_fast();  // a kernel against itself, in doubt by a little
  same.speedup = 0.985;
  same.speedup_interval = {0.98, 0.99};
  same.comparison = Comparison::same;
  count_incumbent_at_its_best(same, 1900);
  EXPECT_LT(same.speedup, 0.95);
  EXPECT_EQ(same.comparison, Comparison::same);

  ShapeTiming slower = twice_as_fast();
  slower.speedup = 0.5;
  slower.speedup_interval = {0.45, 0.55};
  slower.comparison = Comparison::slower;
  count_incumbent_at_its_best(slower, 1500);
  EXPECT_EQ(slower.comparison, Comparison::slower);
}

// 1500 ns beside another rival, where the budget is as large.
ShapeTiming elsewhere(double candidate_ns) {
  ShapeTiming timing;
  timing.candidate_ns = candidate_ns;
  timing.budget = {0.005, 0.004, 0.01, 0.001};
  return timing;
}

TEST(WorstCandidate, WithinBothBudgetsChangesNothing) {
  for (const double ns : {500.0, 1000.0, 1040.0}) {
    SCOPED_TRACE(ns);
    ShapeTiming timing = twice_as_fast();
    EXPECT_EQ(count_candidate_at_its_worst(timing, elsewhere(ns)), 1);
    EXPECT_EQ(timing.candidate_ns, 1000);
    EXPECT_EQ(timing.speedup, 2);
    EXPECT_EQ(timing.comparison, Comparison::faster);
  }
}

TEST(WorstCandidate, BeyondThemItsLongerTimeCounts) {
  ShapeTiming timing = twice_as_fast();
  timing.candidate_rounds = {900, 1000, 1100};
  EXPECT_DOUBLE_EQ(count_candidate_at_its_worst(timing, elsewhere(1500)), 1.5);
  EXPECT_EQ(timing.candidate_ns, 1500);
  EXPECT_DOUBLE_EQ(timing.candidate_rounds[1], 1500);
  EXPECT_DOUBLE_EQ(timing.speedup, 2 / 1.5);
  EXPECT_DOUBLE_EQ(timing.speedup_interval.low, 1.9 / 1.5);
  EXPECT_EQ(timing.comparison, Comparison::faster);
}

TEST(WorstCandidate, SlownessIsNotProvenByIt) {
  ShapeTiming timing = twice_as_fast();
  count_candidate_at_its_worst(timing, elsewhere(4000));
  EXPECT_DOUBLE_EQ(timing.speedup, 0.5);
  EXPECT_EQ(timing.comparison, Comparison::same);
}

TEST(BestIncumbent, CountsNothingWhereItIsNotKnownOrTheScreenHasDecided) {
  ShapeTiming unknown = twice_as_fast();
  count_incumbent_at_its_best(unknown, 0);
  EXPECT_FALSE(unknown.at_least);
  EXPECT_EQ(unknown.speedup, 2);

  ShapeTiming screened = twice_as_fast();
  screened.screened = true;
  screened.comparison = Comparison::slower;
  count_incumbent_at_its_best(screened, 1000);
  EXPECT_FALSE(screened.at_least);
  EXPECT_EQ(screened.comparison, Comparison::slower);
}

}  // namespace
}  // namespace kernelpro
