#include "worker/tensor/compare.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/random.hpp"
#include "worker/tensor/buffers.hpp"
#include "worker/tensor/halves.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr float nan32 = std::numeric_limits<float>::quiet_NaN();
constexpr float inf32 = std::numeric_limits<float>::infinity();
const float poison32 = std::bit_cast<float>(0xffffffffU);

template <typename T>
const char* bytes(const std::vector<T>& values) {
  return reinterpret_cast<const char*>(values.data());
}

TensorError compare32(const std::vector<float>& actual, const std::vector<double>& expected,
                      const std::vector<float>& baseline = {}) {
  return compare_floating(bytes(actual), DType::f32, expected.data(),
                          rms(expected.data(), expected.size()), expected.size(),
                          baseline.empty() ? nullptr : bytes(baseline));
}

TEST(Rms, IsTheRootOfTheMeanSquareOfFiniteValues) {
  const std::vector<double> values = {3, -4, infinite, std::nan(""), 5};
  EXPECT_DOUBLE_EQ(rms(values.data(), 2), std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(rms(values.data(), values.size()), std::sqrt(50.0 / 3));
  EXPECT_EQ(rms(values.data(), 0), 0);
}

TEST(FloatingError, IsTheLargestDifferenceOverSizeAndScale) {
  const TensorError error = compare32({3.5F, -4, 1}, {3, -4, 0});
  const double scale = std::sqrt(25.0 / 3);
  EXPECT_DOUBLE_EQ(error.error, std::max(0.5 / (3 + scale), 1 / scale));
  EXPECT_EQ(error.worst, 2);
  EXPECT_EQ(error.actual, 1);
  EXPECT_EQ(error.expected, 0);
}

TEST(FloatingError, IsZeroWithoutAWorstElementForEqualValues) {
  const TensorError error = compare32({1, 2}, {1, 2});
  EXPECT_EQ(error.error, 0);
  EXPECT_EQ(error.worst, -1);
}

TEST(FloatingError, IsTheDifferenceItselfWhereAllIsZero) {
  EXPECT_EQ(compare32({0, 0}, {0, 0}).error, 0);
  EXPECT_EQ(compare32({0, -0.25F}, {0, 0}).error, 0.25);
  EXPECT_EQ(compare32({0, inf32}, {0, 0}).error, infinite);
}

TEST(FloatingError, IsInfiniteWhereAFiniteValueWasExpected) {
  for (const float bad : {nan32, inf32, -inf32}) {
    const TensorError error = compare32({1, bad}, {1, 2});
    EXPECT_EQ(error.error, infinite);
    EXPECT_EQ(error.worst, 1);
    EXPECT_EQ(error.excused, 0);
    EXPECT_EQ(error.poisoned, 0);
  }
}

TEST(FloatingError, ExcusesWhereTheBaselineOrTheReferenceIsNotFinite) {
  TensorError error = compare32({1, inf32}, {1, 2}, {1, nan32});
  EXPECT_EQ(error.error, 0);
  EXPECT_EQ(error.excused, 1);
  error = compare32({1, 7}, {1, infinite});
  EXPECT_EQ(error.error, 0);
  EXPECT_EQ(error.excused, 1);
}

TEST(FloatingError, HoldsAFiniteValueToItsReferenceWhateverTheBaselineIs) {
  EXPECT_GT(compare32({1, 7}, {1, 2}, {1, nan32}).error, 1);
}

TEST(FloatingError, NeverExcusesPoison) {
  const TensorError error = compare32({1, poison32, poison32}, {1, 2, infinite}, {1, nan32, 1});
  EXPECT_EQ(error.error, infinite);
  EXPECT_EQ(error.poisoned, 2);
}

TEST(FloatingError, IsFoundAnywhereInALargeTensor) {
  constexpr std::size_t count = 300'000;
  std::vector<float> actual(count, 1);
  const std::vector<double> expected(count, 1);
  for (const std::size_t at : {std::size_t{0}, std::size_t{65'535}, std::size_t{65'536},
                               count / 2 - 1, count / 2, count - 1}) {
    actual[at] = 1.5F;
    const TensorError error = compare32(actual, expected);
    EXPECT_EQ(error.worst, static_cast<std::int64_t>(at));
    EXPECT_DOUBLE_EQ(error.error, 0.25);
    actual[at] = 1;
  }
}

TEST(FloatingError, ReadsEveryFloatingType) {
  const double expected = 1;
  const double wide = 1.5;
  const std::uint16_t half = float_to_f16(1.5F);
  const std::uint16_t brain = float_to_bf16(1.5F);
  const auto error = [&expected](const void* actual, DType dtype) {
    return compare_floating(static_cast<const char*>(actual), dtype, &expected, 1, 1, nullptr)
        .error;
  };
  EXPECT_EQ(error(&wide, DType::f64), 0.25);
  EXPECT_EQ(error(&half, DType::f16), 0.25);
  EXPECT_EQ(error(&brain, DType::bf16), 0.25);
}

template <typename T>
void expect_whole(DType dtype) {
  const std::vector<T> expected = {1, 2, 3};
  EXPECT_EQ(compare_whole(bytes(expected), bytes(expected), dtype, 3).error, 0);
  const std::vector<T> wrong = {1, 4, static_cast<T>(-1)};
  const TensorError error = compare_whole(bytes(wrong), bytes(expected), dtype, 3);
  EXPECT_EQ(error.error, infinite);
  EXPECT_EQ(error.worst, 1);
  EXPECT_EQ(error.actual, 4);
  EXPECT_EQ(error.expected, 2);
  EXPECT_EQ(error.poisoned, 1);
}

TEST(WholeError, IsInfiniteForAnyDifferenceInEveryType) {
  expect_whole<std::int64_t>(DType::i64);
  expect_whole<std::int32_t>(DType::i32);
  expect_whole<std::int16_t>(DType::i16);
  expect_whole<std::int8_t>(DType::i8);
  expect_whole<std::uint8_t>(DType::u8);
}

TEST(WholeError, DoesNotTakeAnExpectedMinusOneForPoison) {
  const std::vector<std::int32_t> minus_one = {-1};
  const TensorError error = compare_whole(bytes(minus_one), bytes(minus_one), DType::i32, 1);
  EXPECT_EQ(error.error, 0);
  EXPECT_EQ(error.poisoned, 0);
}

// Two rows of three choices; the best are 1 (twice) and 4.
const std::vector<double> choices = {1, 1, 3, 8, 4, 6};

TensorError select(const std::vector<std::int32_t>& chosen, bool smallest) {
  return compare_selection(bytes(chosen), DType::i32, choices.data(), 2, 3, smallest);
}

TEST(SelectionError, IsZeroForAnyOfTheBest) {
  EXPECT_EQ(select({0, 1}, true).error, 0);
  EXPECT_EQ(select({1, 1}, true).error, 0);
  EXPECT_EQ(select({2, 0}, false).error, 0);
}

TEST(SelectionError, IsHowMuchWorseTheChosenValueIs) {
  const double scale = std::sqrt((1.0 + 16) / 2);
  const TensorError error = select({0, 2}, true);
  EXPECT_DOUBLE_EQ(error.error, 2 / (4 + scale));
  EXPECT_EQ(error.worst, 1);
  EXPECT_EQ(error.actual, 6);
  EXPECT_EQ(error.expected, 4);
}

TEST(SelectionError, IsInfiniteForAnIndexOutOfRange) {
  EXPECT_EQ(select({0, 3}, true).error, infinite);
  EXPECT_EQ(select({0, -2}, true).error, infinite);
  EXPECT_EQ(select({0, -2}, true).poisoned, 0);
  EXPECT_EQ(select({0, -1}, true).poisoned, 1);
}

TEST(Agreement, OfWholeNumbersIsEquality) {
  const std::vector<std::int32_t> a = {1, 2};
  const std::vector<std::int32_t> b = {1, 3};
  EXPECT_TRUE(agree(bytes(a), bytes(a), DType::i32, 2, 1e9));
  EXPECT_FALSE(agree(bytes(a), bytes(b), DType::i32, 2, 1e9));
}

bool agree32(const std::vector<float>& a, const std::vector<float>& b, double bound) {
  return agree(bytes(a), bytes(b), DType::f32, a.size(), bound);
}

TEST(Agreement, TakesNotFiniteForNotFiniteButNotForFiniteOrPoison) {
  EXPECT_TRUE(agree32({1, nan32}, {1, inf32}, 0.1));
  EXPECT_FALSE(agree32({1, nan32}, {1, 2}, 0.1));
  EXPECT_FALSE(agree32({1, 2}, {1, inf32}, 0.1));
  EXPECT_FALSE(agree32({1, poison32}, {1, nan32}, 0.1));
  EXPECT_TRUE(agree32({0, 0}, {0, 0}, 0));
}

// The definition, element by element in double.
bool agree_by_definition(const std::vector<float>& a, const std::vector<float>& b, double bound) {
  const std::vector<double> reference(b.begin(), b.end());
  const double scale = rms(reference.data(), reference.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i];
    const double y = b[i];
    const bool both_not_finite = !std::isfinite(x) && !std::isfinite(y);
    const bool poisoned = std::bit_cast<std::uint32_t>(a[i]) == 0xffffffffU;
    const bool close = std::isfinite(y) && std::fabs(x - y) <= bound * (std::fabs(y) + scale);
    if (!close && (!both_not_finite || poisoned)) {
      return false;
    }
  }
  return true;
}

TEST(Agreement, OfFloatsIsThatOfTheDefinitionOnRandomData) {
  Random random(17);
  int agreeing = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    const double bound = std::ldexp(1, -static_cast<int>(random.below(24)));
    const double magnitude = std::ldexp(1, static_cast<int>(random.below(80)) - 40);
    const double spread = std::ldexp(1, static_cast<int>(random.below(8)) - 5);
    std::vector<float> a(1 + random.below(100));
    std::vector<float> b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double value = magnitude * (2 * random.unit() - 1);
      b[i] = static_cast<float>(value);
      a[i] = static_cast<float>(value + magnitude * bound * spread * (2 * random.unit() - 1));
    }
    if (random.below(10) == 0) {
      const float odd[] = {nan32, inf32, poison32, 0.0F};
      a[random.below(a.size())] = odd[random.below(4)];
      b[random.below(b.size())] = odd[random.below(4)];
    }
    const bool expected = agree_by_definition(a, b, bound);
    ASSERT_EQ(agree32(a, b, bound), expected) << "trial " << trial;
    agreeing += expected ? 1 : 0;
  }
  EXPECT_GT(agreeing, trials / 4);
  EXPECT_LT(agreeing, trials * 3 / 4);
}

TEST(ToDoubles, ReadsWholeAndFloatingTypes) {
  const std::vector<std::int8_t> small = {-3, 4};
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000};
  EXPECT_THAT(to_doubles(bytes(small), DType::i8, 2), ElementsAre(-3, 4));
  EXPECT_THAT(to_doubles(bytes(halves), DType::f16, 2), ElementsAre(1, -2));
}

}  // namespace
}  // namespace kernelpro
