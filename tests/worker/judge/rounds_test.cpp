// How rounds are laid out: out of the cache, long enough for the clock, short enough for people.
#include "worker/judge/rounds.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

constexpr RoundLimits limits{.cache_bytes = 32 << 20};

BufferPlan plan_of(std::size_t set_bytes) {
  BufferPlan plan;
  plan.set_bytes = set_bytes;
  return plan;
}

TEST(RoundPlan, TheSetsTogetherExceedTwiceTheCache) {
  const RoundShape shape = plan_rounds(plan_of(1 << 20), 1e5, limits);
  EXPECT_EQ(shape.calls, 64);
  EXPECT_FALSE(shape.flush);
}

TEST(RoundPlan, ARoundThatWouldTakeTooLongIsShorterAndFlushed) {
  const RoundShape shape = plan_rounds(plan_of(1 << 20), 10e6, limits);
  EXPECT_EQ(shape.calls, 5);
  EXPECT_TRUE(shape.flush);
}

TEST(RoundPlan, TheCacheOfALargeServerIsFlushedAndNotFilledWithSets) {
  constexpr RoundLimits large{.cache_bytes = 300 << 20};
  const RoundShape shape = plan_rounds(plan_of(1 << 20), 1e5, large, 2e6);
  EXPECT_EQ(shape.calls, 20);
  EXPECT_TRUE(shape.flush);
  EXPECT_EQ(plan_rounds(plan_of(64 << 20), 1e5, large).calls, 1);
}

TEST(RoundPlan, ANoisyHandOverMakesRoundsLonger) {
  const RoundShape shape = plan_rounds(plan_of(1 << 20), 1e5, limits, 12e6);
  EXPECT_EQ(shape.calls, 120);
  EXPECT_FALSE(shape.flush);
}

TEST(RoundPlan, HoweverNoisyTheHandOverTheSetsStayWithinMemory) {
  EXPECT_EQ(plan_rounds(plan_of(16 << 20), 1e4, limits, 1e9).calls, 16);
  EXPECT_EQ(plan_rounds(plan_of(1 << 30), 1e4, limits, 1e9).calls, 1);
}

TEST(RoundPlan, WarmSetsFitIntoHalfOfTheCacheAndAreNotFlushed) {
  RoundLimits warm = limits;
  warm.warm = true;
  const RoundShape shape = plan_rounds(plan_of(1 << 20), 1e5, warm);
  EXPECT_EQ(shape.calls, warm.cache_bytes / 2 / (1 << 20));
  EXPECT_TRUE(shape.warm);
  EXPECT_FALSE(shape.flush);
  warm.always_flush = true;
  EXPECT_FALSE(plan_rounds(plan_of(1 << 20), 1e5, warm).flush);
  EXPECT_EQ(plan_rounds(plan_of(1 << 30), 1e5, warm).calls, 1) << "too large for any cache";
}

}  // namespace
}  // namespace kernelpro
