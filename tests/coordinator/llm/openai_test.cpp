// OpenAI's chat completions over HTTP, and the servers that speak them in their own ways.
#include "coordinator/llm/openai.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coordinator/llm/http_chats.hpp"

namespace kernelpro {
namespace {

using llm_server::answers;
using llm_server::api_handler;
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
  EXPECT_THAT(chat_at("http://127.0.0.1:1", false)->body(small_request()),
              HasSubstr(R"("max_tokens":100)"));
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
