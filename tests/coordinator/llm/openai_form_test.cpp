// OpenAI's form of requests and whole completions.
#include "coordinator/llm/openai_form.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/llm/requests.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Result<ChatAnswer> read(const std::string& text) {
  const Result<json> parsed = parse_json(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  return answer_from_completion(*parsed);
}

TEST(OpenAiFormTest, APlainRequestHasNothingThatWasNotAskedFor) {
  EXPECT_EQ(openai_body(small_request(), false).dump(),
            R"({"max_tokens":100,"messages":[{"content":"You write kernels.","role":"system"},)"
            R"({"content":"Faster, please.","role":"user"}],"model":"some-model"})");
}

TEST(OpenAiFormTest, WhatIsAskedForIsThere) {
  ChatRequest request = small_request();
  request.system.clear();
  request.temperature = 0.5;
  request.stop = {"END", "```\n"};
  const json body = openai_body(request, true, new_limit_name);
  EXPECT_EQ(body["messages"].size(), 1U);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["stop"], json({"END", "```\n"}));
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_FALSE(body.contains("max_tokens"));
}

TEST(OpenAiFormTest, ToolsTheirCallsAndTheirResultsKeepTheirIds) {
  const json body = openai_body(request_with_tools(), false);
  EXPECT_EQ(body["tools"][0]["function"]["name"], "profile");
  EXPECT_EQ(body["tools"][0]["function"]["parameters"]["type"], "object");
  const json& assistant = body["messages"][2];
  EXPECT_TRUE(assistant["content"].is_null());
  EXPECT_EQ(assistant["tool_calls"][0]["id"], "c1");
  EXPECT_EQ(assistant["tool_calls"][0]["function"]["arguments"], "{}");
  EXPECT_EQ(assistant["tool_calls"][1]["function"]["arguments"],
            R"({"unreadable_arguments":"{\"le"})");
  EXPECT_EQ(body["messages"][3]["tool_call_id"], "c1");
  EXPECT_EQ(body["messages"][3]["content"], "dram");
  EXPECT_EQ(body["messages"][4]["content"], "Error: no such level");
}

TEST(OpenAiFormTest, EqualRequestsGiveEqualBytesAndAnyTextIsUtf8) {
  EXPECT_EQ(openai_body(request_with_tools(), true).dump(),
            openai_body(request_with_tools(), true).dump());
  ChatRequest request = small_request();
  request.messages[0].text = "error: \xFF\xFE";
  EXPECT_NO_THROW((void)openai_body(request, false).dump());
}

TEST(OpenAiFormTest, ReadsAWholeCompletion) {
  const Result<ChatAnswer> answer = read(R"({
    "id": "x", "object": "chat.completion", "model": "some-model-2", "system_fingerprint": null,
    "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                 "message": {"role": "assistant", "content": "Hello", "refusal": null}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13,
              "prompt_tokens_details": {"cached_tokens": 8}}})");
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->text, "Hello");
  EXPECT_EQ(answer->stop, StopReason::done);
  EXPECT_EQ(answer->model, "some-model-2");
  EXPECT_TRUE(answer->usage_known);
  EXPECT_EQ(answer->usage, (Usage{.input = 10, .cached = 8, .cache_written = 0, .output = 3}));
}

TEST(OpenAiFormTest, ReadsCallsOfToolsHoweverTheArgumentsAreWritten) {
  const Result<ChatAnswer> answer = read(R"({"choices": [{"finish_reason": "stop", "message": {
    "content": null, "tool_calls": [
      {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
      {"id": "b", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}},
      {"id": "c", "type": "function", "function": {"name": "h"}}]}}]})");
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->stop, StopReason::tool_calls);
  EXPECT_EQ(answer->calls,
            (std::vector<ToolCall>{
                {"a", "f", R"({"x":1})"}, {"b", "g", R"({"y":2})"}, {"c", "h", "{}"}}));
  EXPECT_FALSE(answer->usage_known);
}

TEST(OpenAiFormTest, TellsWhyAnAnswerEnded) {
  const auto reason = [](const std::string& finish, const std::string& message) {
    const Result<ChatAnswer> answer =
        read(R"({"choices":[{"finish_reason":)" + finish + R"(,"message":)" + message + "}]}");
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? answer->stop : StopReason::done;
  };
  EXPECT_EQ(reason(R"("length")", R"({"content":"cut"})"), StopReason::length);
  EXPECT_EQ(reason(R"("content_filter")", R"({"content":""})"), StopReason::refusal);
  EXPECT_EQ(reason(R"("stop")", R"({"content":null,"refusal":"I cannot."})"), StopReason::refusal);
  EXPECT_EQ(reason("null", R"({"content":"x"})"), StopReason::other);
  EXPECT_EQ(reason(R"("length")", R"({"tool_calls":[{"id":"a"}]})"), StopReason::length);
}

TEST(OpenAiFormTest, ARefusalsTextIsTheAnswersText) {
  const Result<ChatAnswer> answer = read(
      R"({"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I cannot."}}]})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->text, "I cannot.");
}

TEST(OpenAiFormTest, DoesNotBelieveImpossibleNumbersOfTokens) {
  for (const std::string tokens : {"-1", "1e300", "\"7\"", "null", "3.5", "99999999999999"}) {
    const Result<ChatAnswer> answer =
        read(R"({"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":)"
             R"({"completion_tokens":1,"prompt_tokens":)" +
             tokens + "}}");
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->usage_known) << tokens;
    EXPECT_EQ(answer->usage, Usage{}) << tokens;
  }
}

TEST(OpenAiFormTest, CountsWhatWasThoughtAsOutput) {
  const auto usage = [](const std::string& numbers) {
    return openai_usage(json::parse("{" + numbers + "}"));
  };
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":3,"total_tokens":113)")->output, 103);
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":3,"total_tokens":13)")->output, 3);
  EXPECT_EQ(usage(R"("prompt_tokens":10,"completion_tokens":3,"total_tokens":0)")->output, 3);
  EXPECT_EQ(usage(R"("prompt_tokens":0,"completion_tokens":3)")->output, 3);
  EXPECT_EQ(usage(R"("prompt_tokens":0,"completion_tokens":0,"total_tokens":0)"), std::nullopt)
      << "sent where nobody counts";
}

TEST(OpenAiFormTest, WhatIsNoCompletionIsAnError) {
  EXPECT_THAT(read(R"({"error":{"message":"no such model"}})").error().text(),
              HasSubstr("no such model"));
  EXPECT_THAT(read(R"({"error":"model not loaded"})").error().text(),
              HasSubstr("model not loaded"));
  for (const std::string other :
       {"{}", "[]", "3", "null", R"({"choices":[]})", R"({"choices":[{}]})",
        R"({"choices":[{"message":"text"}]})", R"({"choices":{"0":1}})"}) {
    EXPECT_THAT(read(other).error().text(), HasSubstr("no chat completion")) << other;
  }
}

}  // namespace
}  // namespace kernelpro
