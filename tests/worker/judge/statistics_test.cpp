#include "worker/judge/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "common/base/random.hpp"

namespace kernelpro {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

// Round times around `center` with that relative noise, as a process of its own would give.
std::vector<double> rounds(Random& random, int count, double center, double noise) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    value = center * (1 + (noise * normal(random)));
  }
  return values;
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> values{40, 10, 30, 20, 50};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(BootstrapMedian, OfEqualValuesIsThatValue) {
  const Interval interval = bootstrap_median({5, 5, 5, 5, 5, 5}, 1);
  EXPECT_DOUBLE_EQ(interval.low, 5);
  EXPECT_DOUBLE_EQ(interval.high, 5);
}

TEST(BootstrapMedian, OfNothingIsZero) {
  const Interval interval = bootstrap_median({}, 1);
  EXPECT_DOUBLE_EQ(interval.low, 0);
  EXPECT_DOUBLE_EQ(interval.high, 0);
}

// With three values the median is the least one in 7 of 27 resamples: both ends of the 95 %
// interval are the extremes.
TEST(BootstrapMedian, OfThreeValuesReachesFromLeastToGreatest) {
  const Interval interval = bootstrap_median({2, 9, 4}, 1);
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 9);
}

// Of 41 values a resample's median is among the r least when at least 21 of its 41 draws are. That
// binomial tail passes 2.5 % at r = 15 (0.0180 at 14, 0.0391 at 15) and 97.5 % at r = 27 (0.9609 at
// 26, 0.9820 at 27).
TEST(BootstrapMedian, AgreesWithTheExactResamplingDistribution) {
  std::vector<double> values;
  for (int i = 1; i <= 41; ++i) {
    values.push_back(i);
  }
  const Interval interval = bootstrap_median(values, 3, 40'000);
  EXPECT_DOUBLE_EQ(interval.low, 15);
  EXPECT_DOUBLE_EQ(interval.high, 27);
}

TEST(BootstrapMedian, IsTheSameForTheSameSeed) {
  Random random(11);
  const std::vector<double> values = rounds(random, 20, 100, 0.05);
  const Interval first = bootstrap_median(values, 42);
  const Interval second = bootstrap_median(values, 42);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_LT(first.low, median(values));
  EXPECT_GT(first.high, median(values));
}

struct CoverageCase {
  int values = 0;
  bool outliers = false;
};

class BootstrapCoverage : public ::testing::TestWithParam<CoverageCase> {};

// A slow outlier in one value of ten, as an interruption makes it; the median of such a mixture is
// the normal's quantile at 0.5/0.9.
TEST_P(BootstrapCoverage, IsAtLeastNinetyPercent) {
  constexpr int trials = 1000;
  constexpr int resamples = 400;
  const auto [count, outliers] = GetParam();
  const double truth = outliers ? 0.139710 : 0;
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Random random(counter_hash(static_cast<std::uint64_t>(count), static_cast<unsigned>(trial)));
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
      const double value = normal(random);
      const bool out = outliers && random.unit() < 0.1;
      values.push_back(out ? value + (10 * (1 + random.unit())) : value);
    }
    const Interval interval =
        bootstrap_median(values, static_cast<std::uint64_t>(trial), resamples);
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, trials * 90 / 100);
  EXPECT_LE(covered, trials * 98 / 100) << "an interval this wide finds nothing";
}

INSTANTIATE_TEST_SUITE_P(Pairs, BootstrapCoverage,
                         ::testing::Values(CoverageCase{8, false}, CoverageCase{12, false},
                                           CoverageCase{20, false}, CoverageCase{40, false},
                                           CoverageCase{8, true}, CoverageCase{12, true},
                                           CoverageCase{20, true}, CoverageCase{40, true}),
                         [](const auto& which) {
                           return std::to_string(which.param.values) +
                                  (which.param.outliers ? "WithOutliers" : "Normal");
                         });

TEST(PairedRatio, OfAConstantFactorIsThatFactorWhateverTheDrift) {
  const std::vector<double> candidate{100, 130, 90, 250, 100, 170};
  std::vector<double> incumbent = candidate;
  for (double& value : incumbent) {
    value *= 2;
  }
  const PairedRatio result = paired_ratio(candidate, incumbent, 5);
  EXPECT_NEAR(result.ratio, 2, 1e-12);
  EXPECT_NEAR(result.interval.low, 2, 1e-12);
  EXPECT_NEAR(result.interval.high, 2, 1e-12);
}

TEST(PairedRatio, IsInvertedWhenTheArmsAreExchanged) {
  Random random(3);
  const std::vector<double> first = rounds(random, 15, 100, 0.02);
  const std::vector<double> second = rounds(random, 15, 110, 0.02);
  EXPECT_NEAR(paired_ratio(first, second, 1).ratio * paired_ratio(second, first, 1).ratio, 1,
              1e-12);
}

TEST(PairedRatio, KnowsNothingWithoutPairsOfPositiveTimes) {
  const std::vector<double> good{100, 101, 99};
  const std::vector<std::vector<double>> bad{
      {}, {100, 101}, {100, 0, 99}, {100, -5, 99}, {100, std::nan(""), 99}, {100, infinity, 99}};
  for (const auto& rounds_of_bad : bad) {
    const PairedRatio result = paired_ratio(rounds_of_bad, good, 1);
    EXPECT_EQ(result.ratio, 1);
    EXPECT_EQ(result.interval.low, 0);
    EXPECT_EQ(result.interval.high, infinity);
    EXPECT_EQ(compare(result.interval, 0.005), Comparison::same);
    EXPECT_EQ(noise_floor(rounds_of_bad, good, 1), infinity);
  }
}

TEST(NoiseFloor, IsNeverBelowTheLeast) {
  const std::vector<double> same{100, 101, 102, 103, 104, 105};
  EXPECT_DOUBLE_EQ(noise_floor(same, same, 1), 0.005);
  EXPECT_DOUBLE_EQ(noise_floor(same, same, 1, 0.02), 0.02);
}

TEST(NoiseFloor, ReachesToTheFartherEndInEitherDirection) {
  const std::vector<double> quick{100, 100, 100, 100};
  const std::vector<double> slow{103, 103, 103, 103};
  EXPECT_NEAR(noise_floor(quick, slow, 1), 0.03, 1e-12);
  EXPECT_NEAR(noise_floor(slow, quick, 1), 0.03, 1e-12);
}

TEST(Compare, ClaimsOnlyWhatClearsTheFloor) {
  EXPECT_EQ(compare({1.02, 1.04}, 0.01), Comparison::faster);
  EXPECT_EQ(compare({1.005, 1.04}, 0.01), Comparison::same);
  EXPECT_EQ(compare({0.95, 0.98}, 0.01), Comparison::slower);
  EXPECT_EQ(compare({0.95, 0.995}, 0.01), Comparison::same);
  EXPECT_EQ(compare({0.9, 1.1}, 0.01), Comparison::same);
}

// 20 judgments of 20 rounds, 1 % noise in either arm: the floor comes from two processes of one
// binary, the comparison from a candidate `factor` times as fast.
int claims_of_faster(double factor) {
  int claims = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::vector<double> incumbent = rounds(random, 20, 1000, 0.01);
    const std::vector<double> again = rounds(random, 20, 1000, 0.01);
    const std::vector<double> candidate = rounds(random, 20, 1000 / factor, 0.01);
    const double floor = noise_floor(incumbent, again, seed);
    const Interval interval = paired_ratio(candidate, incumbent, seed).interval;
    claims += compare(interval, floor) == Comparison::faster ? 1 : 0;
  }
  return claims;
}

TEST(Judgment, OfTwoEqualProgramsClaimsASpeedupAtMostOnceInTwenty) {
  EXPECT_LE(claims_of_faster(1.0), 1);
}

TEST(Judgment, FindsThreePercentInAtLeastEighteenOfTwenty) {
  EXPECT_GE(claims_of_faster(1.03), 18);
}

TEST(Unevenness, CountsRoundsThatAreSlowNowAndThen) {
  const std::vector<double> even(20, 10.0);
  std::vector<double> slow = even;
  slow[3] = slow[8] = slow[13] = slow[18] = 100;
  // Without the slowest tenth it is uneven still, so that tenth counts too.
  EXPECT_DOUBLE_EQ(unevenness(slow, even), (16 * 10 + 4 * 100) / 20.0 / 10);
  EXPECT_DOUBLE_EQ(unevenness(slow, slow), 1);
  EXPECT_DOUBLE_EQ(unevenness(even, even), 1);
}

TEST(Unevenness, ForgivesAMomentOfTheMachineAndTooFewRounds) {
  const std::vector<double> even(10, 10.0);
  std::vector<double> once = even;
  once[4] = 1000;
  EXPECT_DOUBLE_EQ(unevenness(once, even), 1);
  EXPECT_DOUBLE_EQ(unevenness({10, 10, 90, 90}, {10, 10, 10, 10}), 1);
}

}  // namespace
}  // namespace kernelpro
