#include "common/model/llm.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

TEST(Llm, NamesAreReadBack) {
  EXPECT_THAT(llm_roles(), ::testing::SizeIs(4));
  for (const LlmRole role : llm_roles()) {
    EXPECT_EQ(parse_llm_role(name_of(role)), role);
  }
  for (const ToolUse use : {ToolUse::proactive, ToolUse::reactive}) {
    EXPECT_EQ(parse_tool_use(name_of(use)), use);
  }
  EXPECT_FALSE(parse_llm_role("cook").has_value());
  EXPECT_FALSE(parse_tool_use("never").has_value());
}

TEST(Llm, PricesAreDollarsAMillionTokens) {
  const std::optional<Price> two = parse_price("3/15");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(*two, (Price{.input = 3000, .cached = 3000, .cache_written = 3750, .output = 15'000}));
  EXPECT_EQ(parse_price("3/15/0.3")->cached, 300);
  EXPECT_EQ(parse_price("3/15/0.3")->cache_written, 3750);
  EXPECT_EQ(parse_price("3/15/0.3/4")->cache_written, 4000);
  EXPECT_EQ(parse_price("0.15/0.6")->input, 150);
  EXPECT_EQ(parse_price("0/0")->output, 0);
}

TEST(Llm, APriceThatIsTooFineIsRoundedUpAndNeverFree) {
  EXPECT_EQ(parse_price("0.0001/1")->input, 1);
  EXPECT_EQ(parse_price("0.0755/1")->input, 76);
  EXPECT_EQ(parse_price("0.001/1")->cache_written, 2);
}

TEST(Llm, WhatIsNoPriceIsNone) {
  for (const char* text : {"", "3", "3/", "/15", "3/15/", "3/15/1/1/1", "-1/2", "1/-2", "a/b",
                           "3/15 ", "nan/1", "inf/1", "1e7/1", "3,5/1", "$3/15"}) {
    EXPECT_FALSE(parse_price(text).has_value()) << text;
  }
}

TEST(Llm, CachedInputHasItsOwnPrice) {
  const Price price{.input = 1000, .cached = 100, .cache_written = 1250, .output = 5000};
  EXPECT_EQ(cost_of({.input = 10, .cached = 0, .cache_written = 0, .output = 2}, price), 20'000);
  EXPECT_EQ(cost_of({.input = 10, .cached = 6, .cache_written = 3, .output = 2}, price),
            1 * 1000 + 6 * 100 + 3 * 1250 + 2 * 5000);
}

}  // namespace
}  // namespace kernelpro
