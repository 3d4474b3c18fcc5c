// Anthropic's Messages API: what is sent, and what is made of what comes.
#include "coordinator/llm/anthropic.hpp"

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
using ::testing::SizeIs;

json body_of(const ChatRequest& request) {
  return json::parse(chat_at("http://127.0.0.1:1", true)->body(request));
}

std::string event_text(const std::string& data) {
  return "event: " + json::parse(data)["type"].get<std::string>() + "\ndata: " + data + "\n\n";
}

const std::string start = event_text(
    R"({"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":5,)"
    R"("cache_read_input_tokens":30,"cache_creation_input_tokens":200,"output_tokens":1}}})");
const std::string text_block = event_text(
    R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
const std::string end_of_turn =
    event_text(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},)"
               R"("usage":{"output_tokens":12}})") +
    event_text(R"({"type":"message_stop"})");

std::string text_delta(const std::string& text) {
  return event_text(json({{"type", "content_block_delta"},
                          {"index", 0},
                          {"delta", {{"type", "text_delta"}, {"text", text}}}})
                        .dump());
}

TEST(AnthropicTest, APlainRequestCachesTheSystemPromptAlone) {
  EXPECT_EQ(
      body_of(small_request()).dump(),
      R"({"max_tokens":100,"messages":[{"content":[{"text":"Faster, please.","type":"text"}],)"
      R"("role":"user"}],"model":"some-model","stream":true,"system":[{"cache_control":)"
      R"({"type":"ephemeral"},"text":"You write kernels.","type":"text"}]})");
}

TEST(AnthropicTest, WhatIsAskedForIsThere) {
  ChatRequest request = small_request();
  request.system.clear();
  request.temperature = 0.25;
  request.stop = {"END"};
  const json body = body_of(request);
  EXPECT_FALSE(body.contains("system"));
  EXPECT_EQ(body["temperature"], 0.25);
  EXPECT_THAT(body["stop_sequences"], ElementsAre("END"));
}

TEST(AnthropicTest, ResultsOfToolsStandInOneMessageAndThePromptIsCached) {
  const json body = body_of(request_with_tools());
  ASSERT_THAT(body["messages"], SizeIs(3));
  EXPECT_TRUE(body["messages"][0]["content"][0].contains("cache_control"));
  const json& calls = body["messages"][1]["content"];
  ASSERT_THAT(calls, SizeIs(2)) << "no block for an empty text";
  EXPECT_EQ(calls[0]["input"], json::object());
  EXPECT_EQ(calls[1]["input"]["unreadable_arguments"], "{\"le");
  const json& results = body["messages"][2];
  EXPECT_EQ(results["role"], "user");
  EXPECT_EQ(results["content"][0]["tool_use_id"], "c1");
  EXPECT_FALSE(results["content"][0].contains("is_error"));
  EXPECT_EQ(results["content"][1]["is_error"], true);
  EXPECT_EQ(body["tools"][0]["input_schema"]["type"], "object");
}

TEST(AnthropicTest, MessagesThatFollowEachOtherAreJoinedAndEmptyOnesLeftOut) {
  ChatRequest request = small_request();
  request.messages = {user_says("a"), assistant_says(""), user_says("b")};
  const json body = body_of(request);
  ASSERT_THAT(body["messages"], SizeIs(1));
  EXPECT_THAT(body["messages"][0]["content"], SizeIs(2));
}

TEST(AnthropicTest, EqualRequestsGiveEqualBytesWithoutTheKey) {
  const auto chat = chat_at("http://127.0.0.1:1", true);
  EXPECT_EQ(chat->body(request_with_tools()), chat->body(request_with_tools()));
  EXPECT_THAT(chat->body(request_with_tools()), Not(HasSubstr(test_key)));
  EXPECT_EQ(chat->provider(), "anthropic");
}

TEST(AnthropicTest, AStrictServerTakesItAndIsUnderstood) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), true);
  const Heard first = ask(*chat, small_request());
  ASSERT_TRUE(first.tried.reply.answer) << first.tried.failure->error.text();
  const ChatAnswer& answer = *first.tried.reply.answer;
  EXPECT_EQ(answer.text, "You said: Faster, please.");
  EXPECT_EQ(first.pieces, answer.text);
  EXPECT_EQ(first.count, 4) << "a piece for each delta";
  EXPECT_EQ(answer.stop, StopReason::done);
  EXPECT_EQ(answer.model, "some-model");
  EXPECT_TRUE(answer.usage_known);
  EXPECT_EQ(answer.usage, (Usage{.input = 5, .cached = 0, .cache_written = 3, .output = 4}));
  const Heard again = ask(*chat, small_request());
  EXPECT_EQ(again.tried.reply.answer->usage,
            (Usage{.input = 5, .cached = 3, .cache_written = 0, .output = 4}));
  EXPECT_EQ(server.seen()[0].headers.at("x-api-key"), test_key);
  EXPECT_EQ(server.seen()[0].body, chat->body(small_request()));
}

TEST(AnthropicTest, AToolIsCalledAndItsResultTakenByAStrictServer) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), true);
  ChatRequest request = request_with_tools();
  request.messages = {user_says("use the tool")};
  const Heard asked = ask(*chat, request);
  ASSERT_TRUE(asked.tried.reply.answer) << asked.tried.failure->error.text();
  EXPECT_EQ(asked.tried.reply.answer->stop, StopReason::tool_calls);
  EXPECT_THAT(asked.tried.reply.answer->calls,
              ElementsAre(ToolCall{"toolu_01", "profile", R"({"text":"use the tool"})"}));
  request.messages.push_back(
      assistant_says(asked.tried.reply.answer->text, asked.tried.reply.answer->calls));
  request.messages.push_back(tool_says("dram", "toolu_01", true));
  const Heard answered = ask(*chat, request);
  ASSERT_TRUE(answered.tried.reply.answer) << answered.tried.failure->error.text();
  EXPECT_EQ(answered.tried.reply.answer->text, "The tool said: error, dram");
  EXPECT_GT(answered.tried.reply.answer->usage.cached, 0) << "the prompt was cached";
}

TEST(AnthropicTest, TellsWhyAnAnswerEnded) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), true);
  const auto reason = [&](auto change) {
    ChatRequest request = small_request();
    change(request);
    return ask(*chat, request).tried.reply.answer->stop;
  };
  EXPECT_EQ(reason([](auto& request) { request.max_output = 2; }), StopReason::length);
  EXPECT_EQ(reason([](auto& request) { request.stop = {"please"}; }), StopReason::stop_text);
  EXPECT_EQ(reason([](auto& request) { request.messages = {user_says("refuse")}; }),
            StopReason::refusal);
  const auto named = [](const std::string& name) {
    return answer_from(
               streams({start, event_text(R"({"type":"message_delta","delta":{"stop_reason":")" +
                                          name + R"("},"usage":{"output_tokens":0}})")}),
               true)
        .stop;
  };
  EXPECT_EQ(named("pause_turn"), StopReason::other);
  EXPECT_EQ(named("model_context_window_exceeded"), StopReason::length);
}

TEST(AnthropicTest, InputCountsWhatWasCached) {
  const ChatAnswer answer =
      answer_from(streams({start, text_block, text_delta("x"), end_of_turn}), true);
  EXPECT_EQ(answer.usage, (Usage{.input = 235, .cached = 30, .cache_written = 200, .output = 12}));
  EXPECT_EQ(answer.model, "m-1");
}

TEST(AnthropicTest, AStreamByteByByteIsTheSame) {
  EXPECT_EQ(answer_from(dribbles({start, text_block, text_delta("slow "),
                                  text_delta("bytes \xC3\xA4"), end_of_turn}),
                        true)
                .text,
            "slow bytes \xC3\xA4");
}

TEST(AnthropicTest, UnknownEventsAndThinkingArePassedOver) {
  const ChatAnswer answer =
      answer_from(streams({start, event_text(R"({"type":"ping"})"),
                           event_text(R"({"type":"something_new","x":[1]})"),
                           event_text(R"({"type":"content_block_start","index":0,)"
                                      R"("content_block":{"type":"thinking","thinking":""}})"),
                           event_text(R"({"type":"content_block_delta","index":0,)"
                                      R"("delta":{"type":"thinking_delta","thinking":"hm"}})"),
                           text_block, text_delta("x"), end_of_turn}),
                  true);
  EXPECT_EQ(answer.text, "x");
}

TEST(AnthropicTest, SeveralToolsAtOnceKeepTheirArgumentsApart) {
  const auto tool = [](int index, const std::string& id) {
    return event_text(R"({"type":"content_block_start","index":)" + std::to_string(index) +
                      R"(,"content_block":{"type":"tool_use","id":")" + id + R"(","name":"f"}})");
  };
  const auto piece = [](int index, const std::string& text) {
    return event_text(json({{"type", "content_block_delta"},
                            {"index", index},
                            {"delta", {{"type", "input_json_delta"}, {"partial_json", text}}}})
                          .dump());
  };
  const ChatAnswer answer =
      answer_from(streams({start, tool(1, "a"), tool(2, "b"), tool(10, "c"), piece(1, "{\"x\":"),
                           piece(2, "{nonsense"), piece(1, "1}"), end_of_turn}),
                  true);
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"a", "f", R"({"x":1})"},
                                        ToolCall{"b", "f", "{nonsense"}, ToolCall{"c", "f", "{}"}));
}

TEST(AnthropicTest, AnErrorInTheStreamEndsIt) {
  const auto broken = [](const std::string& type) {
    return failure_from(hangs_after({start, text_block, text_delta("x"),
                                     event_text(R"({"type":"error","error":{"type":")" + type +
                                                R"(","message":"Sorry"}})")}),
                        true);
  };
  const ChatFailure overloaded = broken("overloaded_error");
  EXPECT_TRUE(overloaded.retriable);
  EXPECT_TRUE(overloaded.may_cost);
  EXPECT_THAT(overloaded.error.text(), HasSubstr("overloaded_error: Sorry"));
  EXPECT_THAT(overloaded.error.text(), HasSubstr("/v1/messages"));
  EXPECT_FALSE(broken("invalid_request_error").retriable);
}

TEST(AnthropicTest, AWholeMessageInsteadOfAStreamIsUnderstood) {
  const ChatAnswer answer = answer_from(
      answers(200, "application/json",
              R"({"type":"message","model":"m-2","content":[{"type":"text","text":"Hi"},)"
              R"({"type":"tool_use","id":"a","name":"f","input":{"x":1}}],)"
              R"("stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})"),
      true);
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_THAT(answer.calls, ElementsAre(ToolCall{"a", "f", R"({"x":1})"}));
  EXPECT_EQ(answer.usage, (Usage{.input = 3, .cached = 0, .cache_written = 0, .output = 4}));
}

TEST(AnthropicTest, AnAnswerThatIsWholeCountsThoughItsConnectionIsCut) {
  EXPECT_EQ(answer_from(cuts_after({start, text_block, text_delta("x"), end_of_turn}), true).text,
            "x");
  EXPECT_EQ(answer_from(hangs_after({start, text_block, text_delta("x"), end_of_turn}), true).text,
            "x");
}

TEST(AnthropicTest, AStreamMayEndAsOpenAisDo) {
  const std::string stop =
      event_text(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})");
  for (const std::string& end : {end_of_turn + "data: [DONE]\n\n", end_of_turn + "data: junk\n\n",
                                 end_of_turn + "data:\n\n", stop + "data: [DONE]\n\n"}) {
    const ChatAnswer answer =
        answer_from(streams({start, "event: ping\ndata:\n\n", text_delta("x"), end}), true);
    EXPECT_EQ(answer.text, "x");
    EXPECT_EQ(answer.stop, StopReason::done);
  }
  EXPECT_THAT(failure_from(streams({"data: [DONE]\n\n"}), true).error.text(),
              HasSubstr("the stream ended before the answer did"));
}

TEST(AnthropicTest, WhyItEndedNeedBeSaidOnceOnlyOrNotAtAll) {
  const std::string stop =
      event_text(R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})");
  const std::string end = event_text(R"({"type":"message_stop"})");
  for (const std::string delta : {"{}", R"({"stop_reason":null})"}) {
    const std::string again = event_text(R"({"type":"message_delta","delta":)" + delta +
                                         R"(,"usage":{"output_tokens":9}})");
    const ChatAnswer answer =
        answer_from(streams({start, text_delta("x"), stop, again, end}), true);
    EXPECT_EQ(answer.stop, StopReason::length);
    EXPECT_EQ(answer.usage.output, 9);
  }
  EXPECT_EQ(answer_from(streams({start, text_delta("x"), end}), true).stop, StopReason::other);
}

TEST(AnthropicTest, ANoughtDoesNotReplaceWhatWasCounted) {
  const ChatAnswer answer = answer_from(
      streams({start, text_delta("x"),
               event_text(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},)"
                          R"("usage":{"input_tokens":0,"cache_read_input_tokens":0,)"
                          R"("output_tokens":12}})")}),
      true);
  EXPECT_EQ(answer.usage, (Usage{.input = 235, .cached = 30, .cache_written = 200, .output = 12}));
}

TEST(AnthropicTest, WhatIsCountedLaterIsRight) {
  const auto usage = [](const std::string& first, const std::string& last) {
    return answer_from(
        streams({event_text(R"({"type":"message_start","message":{"usage":)" + first + "}}"),
                 text_delta("x"),
                 event_text(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},)"
                            R"("usage":)" +
                            last + "}")}),
        true);
  };
  const ChatAnswer estimated =
      usage(R"({"input_tokens":50,"output_tokens":0})", R"({"input_tokens":40,"output_tokens":7})");
  EXPECT_EQ(estimated.usage, (Usage{.input = 40, .cached = 0, .cache_written = 0, .output = 7}));
  EXPECT_FALSE(
      usage(R"({"input_tokens":0,"output_tokens":0})", R"({"input_tokens":0,"output_tokens":0})")
          .usage_known)
      << "sent where nobody counts";
}

TEST(AnthropicTest, AToolsInputMayComeWhole) {
  const auto tool = [](const std::string& input) {
    return event_text(R"({"type":"content_block_start","index":1,"content_block":)"
                      R"({"type":"tool_use","id":"a","name":"f","input":)" +
                      input + "}}");
  };
  const std::string piece =
      event_text(R"({"type":"content_block_delta","index":1,"delta":)"
                 R"({"type":"input_json_delta","partial_json":"{\"x\":1}"}})");
  for (const auto& pieces :
       {std::vector<std::string>{start, tool(R"({"x":1})"), end_of_turn},
        std::vector<std::string>{start, tool(R"({"x":1})"), piece, end_of_turn},
        std::vector<std::string>{start, tool("{}"), piece, end_of_turn}}) {
    EXPECT_THAT(answer_from(streams(pieces), true).calls,
                ElementsAre(ToolCall{"a", "f", R"({"x":1})"}));
  }
}

TEST(AnthropicTest, AStreamWithoutItsEndIsCut) {
  for (const bool reset : {false, true}) {
    const ChatFailure failure =
        failure_from(cuts_after({start, text_block, text_delta("x")}, reset), true);
    EXPECT_TRUE(failure.retriable);
    EXPECT_TRUE(failure.may_cost);
    EXPECT_EQ(failure.error.kind, ErrorKind::lost);
  }
  const ChatFailure ended = failure_from(streams({start, text_block, text_delta("x")}), true);
  EXPECT_TRUE(ended.retriable);
  EXPECT_TRUE(ended.may_cost);
  EXPECT_THAT(ended.error.text(), HasSubstr("the stream ended before the answer did"));
}

}  // namespace
}  // namespace kernelpro
