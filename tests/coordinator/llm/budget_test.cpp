#include "coordinator/llm/budget.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "coordinator/llm/call_fixture.hpp"

namespace kernelpro {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::price;

Charge reserve(Budget& budget, const Usage& worst) {
  const Result<Budget::Reservation> reservation = budget.reserve(worst, price, "m");
  EXPECT_TRUE(reservation.ok()) << error_text(reservation);
  EXPECT_TRUE(reservation->granted()) << reservation->refusal;
  return reservation->worst;
}

std::string refusal(Budget& budget, const Usage& worst) {
  const Result<Budget::Reservation> reservation = budget.reserve(worst, price, "m");
  return reservation ? reservation->refusal : reservation.error().text();
}

TEST(Budget, SetsTheWorstCaseApartAndGivesBackWhatWasNotTaken) {
  Budget budget(1000, 0);
  const Charge worst = reserve(budget, {.input = 600, .output = 300});
  EXPECT_EQ(budget.tokens_left(), 100);
  EXPECT_THAT(refusal(budget, {.input = 100, .output = 1}),
              HasSubstr("the budget of 1000 tokens has 100 left, and the call may take 101"));
  budget.settle(worst, charge_of({.input = 500, .output = 10}, price));
  EXPECT_EQ(budget.tokens_left(), 490);
  reserve(budget, {.input = 490});
  EXPECT_EQ(budget.tokens_left(), 0);
}

TEST(Budget, CountsMoneyAtThePriceOfTheDearestInput) {
  Budget budget(0, 10'000'000);
  const Charge worst = reserve(budget, {.input = 1000, .output = 100});
  EXPECT_EQ(worst.cost, 1000 * 3750 + 100 * 15'000);
  EXPECT_EQ(budget.money_left(), 10'000'000 - worst.cost);
  EXPECT_FALSE(budget.tokens_left().has_value()) << "there is no budget of tokens";
  EXPECT_THAT(refusal(budget, {.output = 1000}),
              HasSubstr("the budget of $0.01 has $0.00475 left, and the call may cost $0.015"));
  const Usage actual{.input = 1000, .cached = 400, .cache_written = 100, .output = 50};
  budget.settle(worst, charge_of(actual, price));
  EXPECT_EQ(budget.taken().cost, 500 * 3000 + 400 * 300 + 100 * 3750 + 50 * 15'000);
}

TEST(Budget, ABudgetOfMoneyNeedsAPrice) {
  Budget budget(0, 1);
  const Result<Budget::Reservation> reservation =
      budget.reserve({.input = 1}, std::nullopt, "qwen-9");
  ASSERT_FALSE(reservation.ok());
  EXPECT_EQ(reservation.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(reservation.error().text(), HasSubstr("--price qwen-9=IN/OUT"));
  Budget tokens_only(10, 0);
  EXPECT_TRUE(tokens_only.reserve({.input = 1}, std::nullopt, "qwen-9")->granted());
}

TEST(Budget, WithoutOneEverythingIsGrantedAndCounted) {
  Budget budget(0, 0);
  reserve(budget, {.input = 1'000'000'000, .output = 1'000'000'000});
  EXPECT_FALSE(budget.tokens_left().has_value());
  EXPECT_FALSE(budget.money_left().has_value());
  EXPECT_EQ(budget.taken().tokens, 2'000'000'000);
}

TEST(Budget, WhatEarlierProcessesTookCounts) {
  Budget budget(1000, 0);
  budget.take_up({.tokens = 950, .cost = 0});
  EXPECT_EQ(budget.tokens_left(), 50);
  budget.take_up({.tokens = 100, .cost = 0});
  EXPECT_EQ(budget.tokens_left(), 0) << "a budget that was made smaller has nothing left";
  EXPECT_NE(refusal(budget, {.input = 1}), "");
}

TEST(Budget, AReservationIsExchangedInOneStep) {
  Budget budget(1000, 0);
  const Charge first = reserve(budget, {.input = 900});
  EXPECT_TRUE(budget.reserve({.input = 1000}, price, "m", first)->granted());
  EXPECT_EQ(budget.tokens_left(), 0);
  EXPECT_FALSE(budget.reserve({.input = 1001}, price, "m", {.tokens = 1000, .cost = 0})->granted());
  EXPECT_EQ(budget.taken().tokens, 1000) << "a refusal changes nothing";
  budget.take_up({.tokens = 500, .cost = 0});
  EXPECT_TRUE(budget.reserve({.input = 1000}, price, "m", {.tokens = 1000, .cost = 0})->granted())
      << "what stands stays, however little is left";
}

TEST(Budget, MoreThanWasSetApartIsTakenToo) {
  Budget budget(1000, 0);
  budget.settle(reserve(budget, {.input = 900}), {.tokens = 1200, .cost = 0});
  EXPECT_EQ(budget.taken().tokens, 1200);
  EXPECT_EQ(budget.tokens_left(), 0);
}

TEST(Budget, NumbersThatCannotBeAreMadePlausible) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Usage usage = plausible({.input = -5, .cached = most, .cache_written = -1, .output = most});
  EXPECT_EQ(usage.cached, usage.input);
  EXPECT_EQ(usage.cache_written, 0);
  const Price dearest = *parse_price("1000000/1000000/1000000/1000000");
  EXPECT_GT(
      charge_of({.input = most, .cached = most, .cache_written = most, .output = most}, dearest)
          .cost,
      0)
      << "no overflow";
  Budget budget(0, most);
  for (int i = 0; i < 10; ++i) {
    budget.take_up(charge_of({.input = most, .output = most}, dearest));
  }
  EXPECT_EQ(budget.money_left(), 0);
}

TEST(Budget, DollarsAreWrittenExactly) {
  EXPECT_EQ(dollar_text(0), "$0.00");
  EXPECT_EQ(dollar_text(50'000'000), "$0.05");
  EXPECT_EQ(dollar_text(1'500'000'000), "$1.50");
  EXPECT_EQ(dollar_text(3'000), "$0.000003");
  EXPECT_EQ(dollar_text(12'000'000'001), "$12.000000001");
  EXPECT_EQ(dollar_text(-1), "-$0.000000001");
}

TEST(Budget, ThreadsTogetherStayWithinIt) {
  static constexpr std::int64_t all = 100'000;
  Budget budget(all, 0);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget, t] {
      for (int i = 0; i < 2000; ++i) {
        const Usage worst{.input = 7 + (i + t) % 50, .output = 100};
        const Result<Budget::Reservation> reservation = budget.reserve(worst, price, "m");
        EXPECT_LE(budget.taken().tokens, all);
        if (reservation->granted()) {
          budget.settle(reservation->worst, {.tokens = i % 20, .cost = 0});
        }
      }
    });
  }
  threads.clear();
  EXPECT_LE(budget.taken().tokens, all);
  EXPECT_GT(budget.taken().tokens, all / 2);
}

}  // namespace
}  // namespace kernelpro
