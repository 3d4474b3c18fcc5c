#include "worker/judge/rounding.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double u = unit_roundoff(Lower::bf16);
constexpr std::size_t columns = 512;
constexpr std::size_t rows = 256;

std::vector<double> normal_values(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> out(count);
  for (double& value : out) {
    value = normal(random);
  }
  return out;
}

double in_bf16(double value) {
  return static_cast<double>(rounded_to(Lower::bf16, static_cast<float>(value)));
}

// What `change` makes of each element of a matrix, as errors.
ErrorPattern pattern(
    const std::function<double(std::size_t row, std::size_t column, double)>& change,
    std::size_t height = rows, std::size_t width = columns) {
  const std::vector<double> truth = normal_values(height * width);
  std::vector<double> actual = truth;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    actual[i] = change(i / width, i % width, truth[i]);
  }
  return pattern_of(signed_errors(actual, truth), {1, width});
}

const auto honest = [](std::size_t, std::size_t, double value) { return in_bf16(value); };

HonestTwin honest_twin(std::size_t height = rows, std::size_t width = columns) {
  return {pattern(honest, height, width), pattern(honest, height, width)};
}

const Variety varied = {.all = 0.5, .near = {0.5, 0.5}};
const Variety one_value = {.all = 0, .near = {0, 0}};

std::string why(const ErrorPattern& errors) {
  return why_not_rounding(Lower::bf16, errors, honest_twin(), varied);
}

TEST(SignedErrors, ArePositiveWhereTheResultIsLargerInSize) {
  const std::vector<double> errors = signed_errors({3, -3, 1, -1}, {2, -2, 2, -2});
  EXPECT_THAT(errors, ElementsAre(0.25, 0.25, -0.25, -0.25));
}

TEST(SignedErrors, LeaveOutWhatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> errors = signed_errors({infinite, 1, 2}, {1, infinite, 2});
  EXPECT_TRUE(std::isnan(errors[0]));
  EXPECT_TRUE(std::isnan(errors[1]));
  EXPECT_EQ(errors[2], 0);
  EXPECT_EQ(pattern_of(errors, {1}).count, 1U);
}

TEST(NeighborStrides, AreThoseOfTheAxesInnermostFirst) {
  EXPECT_THAT(neighbor_strides({4, 5, 6}), ElementsAre(1, 6, 30));
  EXPECT_THAT(neighbor_strides({4, 1, 6}), ElementsAre(1, 6));
  EXPECT_THAT(neighbor_strides({7}), ElementsAre(1));
  EXPECT_THAT(neighbor_strides({}), ElementsAre(1));
}

TEST(Pattern, OfIndependentErrorsIsUnbiasedAndNotShared) {
  const ErrorPattern errors = pattern(honest);
  EXPECT_EQ(errors.count, rows * columns);
  EXPECT_LE(errors.largest, u);
  EXPECT_LT(errors.bias, 0.02);
  EXPECT_NEAR(errors.shared.at(0), 1, 0.1);
  EXPECT_NEAR(errors.shared.at(1), 1, 0.1);
}

TEST(Pattern, OfAFactorIsAllBiasAndShared) {
  const ErrorPattern errors = pattern([](auto, auto, double value) { return 1.01 * value; });
  EXPECT_GT(errors.bias, 0.8);
  EXPECT_GT(errors.shared.at(0), 6);
}

TEST(Pattern, OfFewElementsSaysNothingOfNeighbors) {
  EXPECT_THAT(pattern(honest, 3, 100).shared, ElementsAre(0, 0));
}

TEST(Rounding, OfAnHonestComputationIsAccepted) {
  EXPECT_EQ(why(pattern(honest)), "");
  // Rounded twice, and not in the same way as the twin.
  EXPECT_EQ(why(pattern([](auto, auto, double value) { return in_bf16(in_bf16(value / 3) * 3); })),
            "");
}

TEST(Rounding, IsNoBias) {
  EXPECT_THAT(why(pattern([](auto, auto, double value) { return in_bf16(value) * (1 - u); })),
              HasSubstr("biased"));
}

TEST(Rounding, IsNoErrorThatARowOrAColumnShares) {
  const std::vector<double> factors = normal_values(columns, 2);
  EXPECT_THAT(why(pattern([&](std::size_t row, auto, double value) {
                return in_bf16(value) * (1 + u * factors[row]);
              })),
              HasSubstr("shared by neighbors"));
  EXPECT_THAT(why(pattern([&](auto, std::size_t column, double value) {
                return in_bf16(value) * (1 + u * factors[column]);
              })),
              HasSubstr("shared by neighbors"));
}

TEST(Rounding, IsBoundedByTheTwinAndByEightRoundings) {
  EXPECT_DOUBLE_EQ(lower_bound(Lower::bf16, 0), 4 * u);
  EXPECT_DOUBLE_EQ(lower_bound(Lower::bf16, u / 2), 6 * u);
  EXPECT_DOUBLE_EQ(lower_bound(Lower::bf16, 1), 8 * u);
  ErrorPattern errors = pattern(honest);
  errors.largest = 9 * u;
  EXPECT_THAT(why(errors), HasSubstr("larger than an honest computation"));
}

TEST(Rounding, IsWhatTheTwinShares) {
  // Where inputs are all of one sign, an honest product of matrices shares their errors as well.
  const std::vector<double> factors = normal_values(rows, 2);
  const auto shares = [&](std::size_t row, auto, double value) {
    return in_bf16(value) * (1 + 0.5 * u * factors[row]);
  };
  const ErrorPattern errors = pattern(shares);
  EXPECT_EQ(why_not_rounding(Lower::bf16, errors, {errors, errors}, varied), "");
}

TEST(Rounding, TowardZeroIsNoLeaveToErrByMore) {
  const auto cut = [](auto, auto, double value) {
    return static_cast<double>(rounded_to(Lower::tf32_cut, static_cast<float>(value)));
  };
  const ErrorPattern errors = pattern(cut);
  EXPECT_GT(errors.bias, 0.7);
  EXPECT_EQ(why_not_rounding(Lower::tf32_cut, errors, {errors, errors}, varied), "");
  const ErrorPattern factor = pattern([](auto, auto, double value) { return 0.997 * value; });
  EXPECT_THAT(why_not_rounding(Lower::tf32_cut, factor, {errors, errors}, varied),
              HasSubstr("larger than an honest computation"));
}

TEST(Rounding, OfOneValueEverywhereIsJudgedByItsSizeAlone) {
  const ErrorPattern same = pattern([](auto, auto, double value) { return value * (1 + u); });
  EXPECT_NE(why(same), "");
  EXPECT_EQ(why_not_rounding(Lower::bf16, same, honest_twin(), one_value), "");
}

TEST(Variety, OfTrueValuesIsRelativeToTheirSize) {
  const std::size_t count = rows * columns;
  EXPECT_NEAR(variety_of(normal_values(count), {1, columns}).all, 1, 0.02);
  std::vector<double> near_one = normal_values(count);
  for (double& value : near_one) {
    value = 5 + 0.01 * value;
  }
  EXPECT_NEAR(variety_of(near_one, {1}).all, 0.001, 1e-4);
  EXPECT_EQ(variety_of({}, {1}).all, 0);
  EXPECT_EQ(variety_of(std::vector<double>(count, 0), {1}).all, 0);
}

TEST(Variety, OfNeighborsIsTheirOwn) {
  std::vector<double> truth(rows * columns);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    truth[i] = 1 + static_cast<double>(i / columns % 7);  // a row is one value
  }
  const Variety variety = variety_of(truth, {1, columns});
  EXPECT_EQ(variety.near.at(0), 0);
  EXPECT_GT(variety.near.at(1), 0.2);
  EXPECT_GT(variety.all, 0.2);
}

// A softmax of tiny values: all exponentials are one in bf16, so all results are 1 / 86, which
// happens to be larger than most of what is right.
TEST(Rounding, OfValuesThatDifferByLessThanItTellsIsAccepted) {
  std::vector<double> truth = normal_values(rows * columns);
  for (double& value : truth) {
    value = (1 + 3e-4 * value) / 86.05;
  }
  const std::vector<double> actual(truth.size(), in_bf16(1.0 / 86));
  const ErrorPattern errors = pattern_of(signed_errors(actual, truth), {1, columns});
  const ErrorPattern none = pattern_of(signed_errors(truth, truth), {1, columns});
  EXPECT_GT(errors.bias, 0.9);
  EXPECT_EQ(why_not_rounding(Lower::bf16, errors, {none, none}, variety_of(truth, {1, columns})),
            "");
}

TEST(Rounding, OfFewElementsIsNotAccusedByChance) {
  int accused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::size_t count = 1 + seed % 40;
    const std::vector<double> truth = normal_values(count, seed);
    std::vector<double> actual = truth;
    std::transform(truth.begin(), truth.end(), actual.begin(),
                   [](double value) { return in_bf16(value); });
    const ErrorPattern errors = pattern_of(signed_errors(actual, truth), {1});
    const ErrorPattern none = pattern_of(signed_errors(truth, truth), {1});
    accused += why_not_rounding(Lower::bf16, errors, {none, none}, varied).empty() ? 0 : 1;
  }
  EXPECT_EQ(accused, 0);
}

}  // namespace
}  // namespace kernelpro
