// When a call is tried again, and after how long.
#include "coordinator/llm/retry.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

namespace kernelpro {
namespace {

// It may have cost something.
ChatFailure passing() {
  ChatFailure failure;
  failure.retriable = true;
  failure.may_cost = true;
  return failure;
}

ChatFailure passing_for_nothing() {
  ChatFailure failure;
  failure.retriable = true;
  return failure;
}

TEST(RetryTest, TheWaitDoublesUpToTheSixthTry) {
  EXPECT_EQ(retry_wait(1, passing(), 0), 1);
  EXPECT_EQ(retry_wait(2, passing(), 0), 2);
  EXPECT_EQ(retry_wait(3, passing(), 0), 4);
  EXPECT_EQ(retry_wait(4, passing(), 0), 8);
  EXPECT_EQ(retry_wait(5, passing(), 0), 16);
  EXPECT_EQ(retry_wait(6, passing(), 0), std::nullopt);
  EXPECT_EQ(retry_wait(1000, passing(), 0), std::nullopt);
}

TEST(RetryTest, WhatCostsNothingIsTriedForAboutFiveMinutes) {
  double least = 0;
  double most = 0;
  for (int tries = 1; tries < most_free_tries; ++tries) {
    const double whole = *retry_wait(tries, passing_for_nothing(), 0);
    EXPECT_EQ(whole, tries < 7 ? std::ldexp(1, tries - 1) : 60) << tries;
    most += whole;
    least += *retry_wait(tries, passing_for_nothing(), 0.999);
  }
  EXPECT_EQ(retry_wait(most_free_tries, passing_for_nothing(), 0), std::nullopt);
  EXPECT_NEAR((least + most) / 2, 300, 60);
}

TEST(RetryTest, NobodyThereIsNotWaitedForSoLong) {
  ChatFailure nobody = passing_for_nothing();
  nobody.for_all = true;
  EXPECT_EQ(retry_wait(5, nobody, 0), 16);
  EXPECT_EQ(retry_wait(6, nobody, 0), std::nullopt);
}

TEST(RetryTest, ChanceTakesUpToAHalfAway) {
  for (int tries = 1; tries < most_tries; ++tries) {
    const double whole = *retry_wait(tries, passing(), 0);
    EXPECT_DOUBLE_EQ(*retry_wait(tries, passing(), 0.5), whole * 0.75);
    EXPECT_GT(*retry_wait(tries, passing(), 0.999), whole / 2);
    EXPECT_LE(whole, longest_retry_seconds);
  }
}

TEST(RetryTest, WhatWillNotPassIsNotTriedAgain) {
  ChatFailure failure;
  failure.retry_after_seconds = 1;
  EXPECT_EQ(retry_wait(1, failure, 0), std::nullopt);
}

TEST(RetryTest, WhatTheProviderAsksForCountsWithinBounds) {
  ChatFailure failure = passing();
  failure.retry_after_seconds = 33;
  EXPECT_EQ(retry_wait(1, failure, 0.5), 33);
  failure.retry_after_seconds = 0.1;
  EXPECT_EQ(retry_wait(3, failure, 0), 4);
  failure.retry_after_seconds = 1e9;
  EXPECT_EQ(retry_wait(1, failure, 0), 600);
  failure.retry_after_seconds = -5;
  EXPECT_EQ(retry_wait(1, failure, 0), 1);
  failure.retry_after_seconds = 33;
  EXPECT_EQ(retry_wait(6, failure, 0), std::nullopt);
}

TEST(RetryTest, RetryAfterIsSecondsOrADate) {
  constexpr std::int64_t now = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(parse_retry_after("120", now), 120);
  EXPECT_EQ(parse_retry_after("0.5", now), 0.5);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now), 30);
  EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:50:07 GMT", now), 30);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now), 0);
  for (const std::string nonsense : {"", "soon", "-3", "nan", "inf", "1e999", "12 parsecs"}) {
    EXPECT_EQ(parse_retry_after(nonsense, now), std::nullopt) << nonsense;
  }
}

TEST(RetryTest, WaitingEndsWhenItIsOverOrStopped) {
  EXPECT_TRUE(wait_or_stop(0.001, {}));
  EXPECT_TRUE(wait_or_stop(0, {}));
  std::stop_source stop;
  std::thread stopper([&stop] { stop.request_stop(); });
  EXPECT_FALSE(wait_or_stop(3600, stop.get_token()));
  stopper.join();
  EXPECT_FALSE(wait_or_stop(3600, stop.get_token()));
}

}  // namespace
}  // namespace kernelpro
