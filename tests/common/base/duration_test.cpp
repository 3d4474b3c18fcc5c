#include "common/base/duration.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

TEST(Duration, APlainNumberIsSeconds) {
  EXPECT_EQ(parse_duration("60"), 60);
  EXPECT_EQ(parse_duration("0.25"), 0.25);
  EXPECT_EQ(parse_duration(".5"), 0.5);
  EXPECT_EQ(parse_duration("0"), 0);
}

TEST(Duration, UnitsAreTakenFromTheLargestToTheSmallest) {
  EXPECT_EQ(parse_duration("60s"), 60);
  EXPECT_EQ(parse_duration("5m"), 300);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("2d1h"), 176400);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(*parse_duration("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_duration("1m2s3ms"), 62.003);
}

TEST(Duration, WhatIsNoDurationIsNothing) {
  for (const char* text : {"", "s", "m5", "5x", "5 m", "-5", "+5", "1e3", "1h1h", "30m1h", "5ms2m",
                           "1h30", "nan", "inf", "0x10", "1..5", "5m ", "much"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kernelpro
