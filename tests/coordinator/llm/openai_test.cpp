// OpenAI's chat completions over HTTP, and the servers that speak them in their own ways.
#include "coordinator/llm/openai.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coordinator/llm/http_chats.hpp"

namespace kernelpro {
namespace {

using llm_server::answers;
using llm_server::api_handler;
using llm_server::chatters_after;
using llm_server::cuts_after;
using llm_server::dribbles;
using llm_server::hangs_after;
using llm_server::HttpServer;
using llm_server::streams;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string chunk(const std::string& delta, const std::string& finish = "null") {
  return R"(data: {"model":"m-1","choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" +
         finish + "}]}\n\n";
}

std::string text_chunk(const std::string& text) {
  return chunk(json({{"content", text}}).dump());
}

const std::string stop_chunk = chunk("{}", R"("stop")");
const std::string usage_chunk =
    R"(data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}})"
    "\n\n";
const std::string done = "data: [DONE]\n\n";

TEST(OpenAiTest, AStrictServerTakesItAndIsUnderstood) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), false);
  const Heard heard = ask(*chat, small_request());
  ASSERT_TRUE(heard.tried.reply.answer) << heard.tried.failure->error.text();
  EXPECT_EQ(heard.tried.reply.answer->text, "You said: Faster, please.");
  EXPECT_EQ(heard.pieces, "You said: Faster, please.");
  EXPECT_EQ(heard.count, 4);
  EXPECT_EQ(heard.tried.reply.answer->stop, StopReason::done);
  EXPECT_EQ(heard.tried.reply.answer->usage,
            (Usage{.input = 5, .cached = 0, .cache_written = 0, .output = 4}));
  EXPECT_TRUE(heard.tried.reply.answer->usage_known);
  EXPECT_EQ(server.seen()[0].headers.at("authorization"), "Bearer " + test_key);
  EXPECT_EQ(server.seen()[0].body, chat->body(small_request()));
  EXPECT_THAT(server.seen()[0].body, Not(HasSubstr(test_key)));
  EXPECT_EQ(chat->provider(), "openai");
}

TEST(OpenAiTest, AToolIsCalledAndItsResultTakenByAStrictServer) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), false);
  ChatRequest request = request_with_tools();
  request.messages = {user_says("use the tool")};
  const Heard asked = ask(*chat, request);
  ASSERT_TRUE(asked.tried.reply.answer) << asked.tried.failure->error.text();
  EXPECT_EQ(asked.tried.reply.answer->stop, StopReason::tool_calls);
  EXPECT_THAT(asked.tried.reply.answer->calls,
              ElementsAre(ToolCall{"call_01", "profile", R"({"text":"use the tool"})"}));
  request.messages.push_back(
      assistant_says(asked.tried.reply.answer->text, asked.tried.reply.answer->calls));
  request.messages.push_back(tool_says("dram", "call_01"));
  const Heard answered = ask(*chat, request);
  ASSERT_TRUE(answered.tried.reply.answer) << answered.tried.failure->error.text();
  EXPECT_EQ(answered.tried.reply.answer->text, "The tool said: dram");
  EXPECT_TRUE(ask(*chat, request_with_tools()).tried.reply.answer) << "nonsense arguments go back";
}

TEST(OpenAiTest, OpenAiItselfGetsTheNewNameOfTheLimit) {
  EXPECT_THAT(chat_at("https://api.openai.com/v1", false)->body(small_request()),
              HasSubstr(R"("max_completion_tokens":100)"));
  for (const std::string host :
       {"API.OpenAI.com", "mine.openai.azure.com", "mine.services.ai.azure.com",
        "mine.cognitiveservices.azure.com"}) {
    EXPECT_THAT(chat_at("https://" + host + "/openai/v1", false)->body(small_request()),
                HasSubstr(R"("max_completion_tokens":100)"));
  }
  for (const std::string other : {"http://127.0.0.1:1", "https://openai.azure.com.example/v1"}) {
    EXPECT_THAT(chat_at(other, false)->body(small_request()), HasSubstr(R"("max_tokens":100)"));
  }
}

TEST(OpenAiTest, AStreamByteByByteIsTheSame) {
  const ChatAnswer answer = answer_from(
      dribbles({text_chunk("slow "), text_chunk("bytes \xC3\xA4"), stop_chunk, usage_chunk, done}),
      false);
  EXPECT_EQ(answer.text, "slow bytes \xC3\xA4");
  EXPECT_EQ(answer.usage.input, 9);
}

TEST(OpenAiTest, WithoutUsageItIsNotKnown) {
  const ChatAnswer answer = answer_from(streams({text_chunk("x"), stop_chunk, done}), false);
  EXPECT_FALSE(answer.usage_known);
  EXPECT_EQ(answer.usage, Usage{});
}

TEST(OpenAiTest, AWholeCompletionInsteadOfAStreamIsUnderstood) {
  const std::string body = R"({"model":"m-3","choices":[{"finish_reason":"length",)"
                           R"("message":{"content":"Hi"}}]})";
  for (const std::string type : {"application/json", "text/plain", ""}) {
    const ChatAnswer answer = answer_from(answers(200, type, body), false);
    EXPECT_EQ(answer.text, "Hi");
    EXPECT_EQ(answer.stop, StopReason::length);
    EXPECT_EQ(answer.model, "m-3");
  }
}

TEST(OpenAiTest, PiecesOfSeveralToolsArePutTogether) {
  const ChatAnswer answer = answer_from(
      streams(
          {chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},)"
                 R"({"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}]})"),
           chunk(R"({"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})"),
           chunk("{}", R"("tool_calls")"), done}),
      false);
  EXPECT_THAT(answer.calls,
              ElementsAre(ToolCall{"a", "f", "{}"}, ToolCall{"b", "g", R"({"y":2})"}));
  EXPECT_EQ(answer.stop, StopReason::tool_calls);
}

TEST(OpenAiTest, ToolsWithoutAnIndexBeginWithTheirIds) {
  const ChatAnswer answer = answer_from(
      streams({chunk(R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]})"),
               chunk(R"({"tool_calls":[{"function":{"arguments":"}"}}]})"),
               chunk(R"({"tool_calls":[{"id":"b","function":{"name":"g"}}]})"), stop_chunk, done}),
      false);
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"a", "f", "{}"}, ToolCall{"b", "g", "{}"}));
}

TEST(OpenAiTest, ToolsThatAllHaveTheIndex0AreToldApartByTheirIds) {
  const ChatAnswer answer = answer_from(
      streams(
          {chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},)"
                 R"({"index":0,"id":"b","function":{"name":"f","arguments":{"y":2}}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"g"}}]})"),
           chunk("{}", R"("tool_calls")"), done}),
      false);
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"a", "f", "{}"}, ToolCall{"b", "f", R"({"y":2})"},
                                        ToolCall{"c", "g", "{}"}));
}

TEST(OpenAiTest, PiecesOfOneToolMayHaveAnIdEach) {
  const ChatAnswer answer = answer_from(
      streams(
          {chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"id":"b","function":{"arguments":"{"}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"id":"c","function":{"arguments":"}"}}]})"),
           chunk("{}", R"("tool_calls")"), done}),
      false);
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"a", "f", "{}"}));
}

TEST(OpenAiTest, ToolsWithNeitherIndexNorIdBeginWithTheirNames) {
  const ChatAnswer answer = answer_from(
      streams({chunk(R"({"tool_calls":[{"function":{"name":"f","arguments":"{"}}]})"),
               chunk(R"({"tool_calls":[{"function":{"arguments":"}"}}]})"),
               chunk(R"({"tool_calls":[{"function":{"name":"g","arguments":{"y":2}}}]})"),
               stop_chunk, done}),
      false);
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"", "f", "{}"}, ToolCall{"", "g", R"({"y":2})"}));
}

TEST(OpenAiTest, TextMayComeAsParts) {
  const HttpServer server(streams(
      {chunk(R"({"content":[{"type":"text","text":"two "},{"type":"text","text":"parts"}]})"),
       text_chunk(" and a string"), stop_chunk, done}));
  const Heard heard = ask(*chat_at(server.url(), false), small_request());
  EXPECT_EQ(heard.tried.reply.answer->text, "two parts and a string");
  EXPECT_EQ(heard.pieces, "two parts and a string");
}

TEST(OpenAiTest, WhatWasThoughtIsCounted) {
  const ChatAnswer answer = answer_from(
      streams({text_chunk("x"), stop_chunk,
               R"(data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,)"
               R"("total_tokens":511}})"
               "\n\n",
               done}),
      false);
  EXPECT_EQ(answer.usage.output, 502);
}

TEST(OpenAiTest, NoughtsWhereNobodyCountsAreNoUsage) {
  const ChatAnswer answer = answer_from(
      streams({text_chunk("x"), stop_chunk,
               "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\n",
               done}),
      false);
  EXPECT_FALSE(answer.usage_known);
}

TEST(OpenAiTest, WhatComesBehindTheEndDoesNotMatter) {
  for (const std::string behind : {"data: junk\n\n", "data:\n\n", ": hello\n\n",
                                   "data: {\"error\":{\"message\":\"late\"}}\n\n"}) {
    const std::string text = text_chunk("x") + stop_chunk + usage_chunk;
    EXPECT_EQ(answer_from(streams({text, "data: [DONE] \n\n", behind}), false).usage.output, 2);
    EXPECT_EQ(answer_from(streams({text + done + behind}), false).usage.output, 2);
  }
  EXPECT_EQ(
      answer_from(chatters_after({text_chunk("x"), stop_chunk, done}, ": hello\n\n"), false).text,
      "x");
}

TEST(OpenAiTest, AnEventWithoutDataIsPassedOver) {
  EXPECT_EQ(
      answer_from(streams({"data:\n\n", text_chunk("x"), "data:  \n\n", stop_chunk, done}), false)
          .text,
      "x");
}

TEST(OpenAiTest, ARefusalIsOne) {
  const ChatAnswer refused = answer_from(
      streams({chunk(R"({"refusal":"I "})"), chunk(R"({"refusal":"cannot."})"), stop_chunk}),
      false);
  EXPECT_EQ(refused.stop, StopReason::refusal);
  EXPECT_EQ(refused.text, "I cannot.");
  EXPECT_EQ(
      answer_from(streams({text_chunk("x"), chunk("{}", R"("content_filter")"), done}), false).stop,
      StopReason::refusal);
}

TEST(OpenAiTest, AnErrorInTheStreamEndsIt) {
  const auto broken = [](const std::string& error) {
    return failure_from(hangs_after({text_chunk("x"), "data: {\"error\":" + error + "}\n\n"}),
                        false);
  };
  const ChatFailure passing = broken(R"({"message":"overloaded","type":"server_error"})");
  EXPECT_TRUE(passing.retriable);
  EXPECT_TRUE(passing.may_cost);
  EXPECT_THAT(passing.error.text(), HasSubstr("server_error: overloaded"));
  EXPECT_TRUE(broken(R"({"message":"bad gateway","code":502})").retriable);
  EXPECT_FALSE(broken(R"({"message":"bad prompt","code":400})").retriable);
  EXPECT_THAT(broken(R"("plain words")").error.text(), HasSubstr("plain words"));
  const ChatFailure broke = broken(R"({"message":"no money","code":"insufficient_quota"})");
  EXPECT_FALSE(broke.retriable);
  EXPECT_TRUE(broke.for_all);
}

TEST(OpenAiTest, AnErrorWithStatus200IsNoAnswer) {
  const ChatFailure failure = failure_from(
      answers(200, "application/json", R"({"error":{"message":"model crashed"}})"), false);
  EXPECT_THAT(failure.error.text(), HasSubstr("model crashed"));
}

TEST(OpenAiTest, AnErrorWithStatus200CountsAsTheStatusInIt) {
  const auto reported = [](const std::string& error) {
    return failure_from(
        answers(200, "application/json", "{\"error\":" + error + "}", {"Retry-After: 7"}), false);
  };
  for (const std::string code : {"429", "\"429\""}) {
    const ChatFailure limited = reported(R"({"message":"per minute","code":)" + code + "}");
    EXPECT_TRUE(limited.retriable);
    EXPECT_FALSE(limited.may_cost) << "nothing was begun";
    EXPECT_EQ(limited.retry_after_seconds, 7);
    EXPECT_EQ(limited.error.kind, ErrorKind::busy);
    EXPECT_THAT(limited.error.text(), HasSubstr("too many requests (HTTP 429: per minute)"));
  }
  const ChatFailure broke = reported(R"({"message":"Insufficient credits","code":402})");
  EXPECT_TRUE(broke.for_all);
  EXPECT_THAT(broke.error.text(), HasSubstr("no quota is left (HTTP 402: Insufficient credits)"));
  EXPECT_THAT(reported(R"({"message":"No auth","code":401})").error.text(),
              HasSubstr("the provider wants another key (HTTP 401: No auth)"));
  const ChatFailure other = reported(R"({"message":"crashed","code":7})");
  EXPECT_TRUE(other.may_cost);
  EXPECT_THAT(other.error.text(), HasSubstr("the provider broke off (crashed)"));
}

TEST(OpenAiTest, AnAnswerThatIsWholeCountsThoughItsConnectionIsCut) {
  EXPECT_EQ(answer_from(cuts_after({text_chunk("x"), stop_chunk, usage_chunk}), false).usage.output,
            2);
  EXPECT_FALSE(answer_from(cuts_after({text_chunk("x"), stop_chunk}), false).usage_known);
  EXPECT_EQ(answer_from(hangs_after({text_chunk("x"), stop_chunk, usage_chunk, done}), false).text,
            "x");
  EXPECT_EQ(answer_from(streams({text_chunk("x"), done}), false).stop, StopReason::other);
}

TEST(OpenAiTest, AStreamWithoutItsEndIsCut) {
  for (const auto& pieces :
       {std::vector<std::string>{text_chunk("x")}, std::vector<std::string>{done},
        std::vector<std::string>{text_chunk("x"), "data: {\"choices\":[{"}}) {
    for (const auto& handler : {streams(pieces), cuts_after(pieces), cuts_after(pieces, true)}) {
      const ChatFailure failure = failure_from(handler, false);
      EXPECT_TRUE(failure.retriable);
      EXPECT_TRUE(failure.may_cost);
      EXPECT_EQ(failure.error.kind, ErrorKind::lost);
    }
  }
}

}  // namespace
}  // namespace kernelpro
