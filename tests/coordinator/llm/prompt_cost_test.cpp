#include "coordinator/llm/prompt_cost.hpp"

#include <gmock/gmock.h>

#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/token_count.hpp"

namespace kernelpro {
namespace {

using testing::request_of;

TEST(PromptCost, APriceIsThatOfTheModelElseTheOneForAnyOther) {
  LlmSettings settings;
  EXPECT_FALSE(find_price(settings, "m").has_value());
  settings.prices[""] = *parse_price("1/2");
  settings.prices["m"] = *parse_price("3/15");
  EXPECT_EQ(find_price(settings, "m")->output, 15'000);
  EXPECT_EQ(find_price(settings, "other")->output, 2'000);
}

TEST(PromptCost, IsTheBoundOfTheInputAndAllThatMayBeAnswered) {
  LlmSettings settings;
  settings.prices["m"] = *parse_price("3/15");
  ChatRequest request = request_of("Write a kernel.", 2000);
  request.model = "m";
  const PromptCost cost = prompt_cost(request, settings);
  EXPECT_EQ(cost.worst.input, most_input_tokens(request));
  EXPECT_EQ(cost.worst.output, 2000);
  EXPECT_EQ(cost.about_input, about_input_tokens(request));
  // What is put into the cache costs a quarter more than plain input.
  EXPECT_EQ(cost.cost, cost.worst.input * 3750 + 2000 * 15'000);
}

TEST(PromptCost, WithoutAPriceOnlyTokensAreKnown) {
  const PromptCost cost = prompt_cost(request_of("Write."), LlmSettings{});
  EXPECT_FALSE(cost.price.has_value());
  EXPECT_EQ(cost.cost, 0);
  EXPECT_GT(cost.worst.input, 0);
}

}  // namespace
}  // namespace kernelpro
