// What an incumbent took alone, and what of a speed-up is left then.
#include <gtest/gtest.h>

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
    EXPECT_EQ(timing.comparison, Comparison::faster);
  }
}

TEST(BestIncumbent, BeyondTheDriftTheSpeedUpIsAgainstIt) {
  ShapeTiming timing = twice_as_fast();
  count_incumbent_at_its_best(timing, 1500);
  EXPECT_TRUE(timing.at_least);
  EXPECT_DOUBLE_EQ(timing.speedup, 1.5);
  EXPECT_DOUBLE_EQ(timing.speedup_interval.low, 1.9 * 0.75);
  EXPECT_DOUBLE_EQ(timing.speedup_interval.high, 2.1 * 0.75);
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
