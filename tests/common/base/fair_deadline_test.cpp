#include "common/base/fair_deadline.hpp"

#include <gtest/gtest.h>

#include "common/base/clock.hpp"

namespace kernelpro {
namespace {

double stolen_by_now = 0;

class FairDeadlineTest : public ::testing::Test {
 protected:
  bool passed_after(double seconds, double stolen) {
    stolen_by_now = 5e9 + stolen * 1e9;
    return deadline_.passed_at(start_ns_ + static_cast<std::int64_t>(seconds * 1e9));
  }

  std::int64_t start_ns_ = now_ns();
  // A limit of one second.
  FairDeadline deadline_{1000, 5e9, [] { return stolen_by_now; }};
};

TEST_F(FairDeadlineTest, OnAMachineOfItsOwnItIsADeadline) {
  EXPECT_FALSE(passed_after(0.99, 0));
  EXPECT_TRUE(passed_after(1.01, 0));
}

TEST_F(FairDeadlineTest, WhatWasStolenDoesNotCount) {
  EXPECT_FALSE(passed_after(1.01, 0.8)) << "it had 0.21 s";
  EXPECT_FALSE(passed_after(1.7, 0.8));
  EXPECT_TRUE(passed_after(1.82, 0.8));
}

TEST_F(FairDeadlineTest, ItMovesAsOftenAsTimeIsStolen) {
  EXPECT_FALSE(passed_after(1.01, 1));
  EXPECT_FALSE(passed_after(2.1, 2));
  EXPECT_FALSE(passed_after(3.2, 3));
  EXPECT_TRUE(passed_after(4.2, 3));
}

TEST_F(FairDeadlineTest, ItDoesNotMoveForEver) {
  for (double seconds = 1.1; seconds < 9.9; seconds += 0.9) {
    EXPECT_FALSE(passed_after(seconds, 2 * seconds)) << "two processors are starved";
  }
  EXPECT_TRUE(passed_after(10.1, 20));
}

TEST(FairDeadline, OfNoTimeHasPassed) {
  EXPECT_TRUE(FairDeadline(0, 0).passed());
  EXPECT_FALSE(FairDeadline(60'000, 0).passed());
}

TEST(FairDeadline, IsADeadlineAsAnyOtherWhereNothingIsKnown) {
  FairDeadline deadline(1000, -1, [] { return 1e12; });
  EXPECT_TRUE(deadline.passed_at(now_ns() + 1'100'000'000));
}

}  // namespace
}  // namespace kernelpro
