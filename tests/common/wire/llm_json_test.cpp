#include "common/wire/llm_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using json = nlohmann::json;

LlmSettings changed_llm_settings() {
  LlmSettings settings;
  settings.llm = "anthropic:model";
  settings.roles[LlmRole::coder] = {.llm = "openai:other", .temperature = 0.25};
  settings.roles[LlmRole::fixer] = {.llm = "", .temperature = std::nullopt};
  settings.model = "some";
  settings.base_url = "http://localhost:8000/v1";
  settings.key_file = "/home/me/key";
  settings.max_output = 1000;
  settings.prompt_tokens = 2000;
  settings.token_budget = std::int64_t{1} << 40;
  settings.money_budget = 5'000'000'001;
  settings.prices["model"] = *parse_price("3/15/0.3");
  settings.prices[""] = *parse_price("1/2");
  settings.reviewer = true;
  settings.tools = ToolUse::reactive;
  settings.code = CodeUse::tools;
  settings.prompts = "/home/me/prompts";
  settings.repairs = 7;
  settings.timeout_seconds = 12.5;
  return settings;
}

LlmCall changed_call() {
  LlmCall call;
  call.id = "7.fixer.2";
  call.node = 7;
  call.role = LlmRole::fixer;
  call.turn = 2;
  call.state = CallState::failed;
  call.provider = "batch";
  call.model = "m";
  call.answered_by = "who";
  call.failure = "cut";
  call.started = "2026-03-01T12:00:00Z";
  call.latency_ns = 5;
  call.usage = {.input = 4, .cached = 3, .cache_written = 1, .output = 2};
  call.reserved = {.input = 40, .cached = 30, .cache_written = 10, .output = 20};
  call.cost = 9;
  call.priced = true;
  return call;
}

Result<LlmSettings> read_settings(const json& value) {
  return wire::read_whole<LlmSettings>(value);
}

TEST(LlmJson, SettingsSurviveARoundTrip) {
  const json written = to_json(changed_llm_settings());
  const json fresh = to_json(LlmSettings{});
  ASSERT_EQ(written.size(), fresh.size());
  for (const auto& [key, value] : fresh.items()) {
    EXPECT_NE(value, written.at(key)) << key << " has its default value";
  }
  const Result<LlmSettings> read = read_settings(*parse_json(written.dump()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->roles.at(LlmRole::coder).temperature, 0.25);
  EXPECT_FALSE(read->roles.at(LlmRole::fixer).temperature.has_value());
  EXPECT_EQ(read->prices.at("model"), changed_llm_settings().prices.at("model"));
}

TEST(LlmJson, SettingsThatCannotBeAreErrorsThatNameThePlace) {
  const std::vector<std::pair<std::string, json>> damages = {
      {"/token_budget", -1},
      {"/money_budget", -1},
      {"/max_output", -5},
      {"/prices/model/input", -1},
      {"/tools", "nonsense"},
      {"/prices/model/output", 3'000'000'000},
      {"/roles/cook", json::object()},
      {"/roles/coder/temperature", nullptr},
      {"/reviewer", "yes"},
      {"/surplus", 1}};
  for (const auto& [pointer, value] : damages) {
    json written = to_json(changed_llm_settings());
    written[json::json_pointer(pointer)] = value;
    const Result<LlmSettings> read = read_settings(written);
    ASSERT_FALSE(read.ok()) << pointer;
    EXPECT_THAT(read.error().text(), HasSubstr(pointer));
  }
}

TEST(LlmJson, ACallSurvivesARoundTripWithoutRequestAndAnswer) {
  LlmCall call = changed_call();
  call.request = "the request";
  call.answer = "the answer";
  const json written = to_json(call);
  const json fresh = to_json(LlmCall{});
  ASSERT_EQ(written.size(), fresh.size());
  for (const auto& [key, value] : fresh.items()) {
    EXPECT_NE(value, written.at(key)) << key << " has its default value";
  }
  EXPECT_THAT(written.dump(), ::testing::Not(HasSubstr("the request")));
  EXPECT_THAT(written.dump(), ::testing::Not(HasSubstr("the answer")));
  const Result<LlmCall> read = llm_call_from_json(*parse_json(written.dump()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
}

TEST(LlmJson, ACallThatCannotBeIsAnErrorThatNamesThePlace) {
  const std::vector<std::pair<std::string, json>> damages = {
      {"/role", "cook"},   {"/state", "lost"},       {"/usage/input", -1}, {"/cost", -1},
      {"/turn", "second"}, {"/reserved/output", -1}, {"/priced", 1},       {"/surplus", 1}};
  for (const auto& [pointer, value] : damages) {
    json written = to_json(changed_call());
    written[json::json_pointer(pointer)] = value;
    const Result<LlmCall> read = llm_call_from_json(written);
    ASSERT_FALSE(read.ok()) << pointer;
    EXPECT_THAT(read.error().text(), HasSubstr(pointer));
  }
  const json whole = to_json(changed_call());
  for (const auto& [key, value] : whole.items()) {
    json written = whole;
    written.erase(key);
    EXPECT_FALSE(llm_call_from_json(written).ok()) << key;
  }
}

}  // namespace
}  // namespace kernelpro
