// What is left out of a request when a server refuses a parameter.
#include "coordinator/llm/left_out.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/llm/http_chats.hpp"

namespace kernelpro {
namespace {

using llm_server::answers;
using llm_server::api_handler;
using llm_server::Handler;
using llm_server::HttpServer;
using llm_server::refuses;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const std::string sent_body =
    R"({"max_tokens":5,"stream":true,"stream_options":{"include_usage":true},"temperature":0.5})";

std::string refusal_of(const std::string& parameter, const std::string& message,
                       const std::string& code = "unsupported_parameter") {
  return R"({"error":{"message":")" + message + R"(","type":"invalid_request_error","param":")" +
         parameter + R"(","code":")" + code + "\"}}";
}

const std::string refused_limit =
    refusal_of("max_tokens",
               "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
               "'max_completion_tokens' instead.");
const std::string refused_temperature = refusal_of(
    "temperature",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) "
    "value is supported.",
    "unsupported_value");
const std::string refused_stream_options =
    R"({"object":"error","message":{"detail":[{"type":"extra_forbidden",)"
    R"("loc":["body","stream_options"],"msg":"Extra inputs are not permitted",)"
    R"("input":{"temperature":0.5}}]}})";

std::optional<LeftOut> next_of(const std::string& answer, int status = 400,
                               const LeftOut& left_out = {}) {
  return leave_out_next(left_out, sent_body, status, answer);
}

ChatRequest request_with_temperature() {
  ChatRequest request = small_request();
  request.temperature = 0.5;
  return request;
}

TEST(LeftOutTest, WhatARefusalNamesIsLeftOut) {
  EXPECT_EQ(next_of(refused_limit), LeftOut{.limit_name = true});
  EXPECT_EQ(next_of(refused_temperature), LeftOut{.temperature = true});
  EXPECT_EQ(next_of(refused_stream_options, 422), LeftOut{.stream_options = true});
  EXPECT_EQ(next_of("unknown parameter: temperature"), LeftOut{.temperature = true});
  EXPECT_EQ(next_of(refused_temperature, 400, LeftOut{.limit_name = true}),
            (LeftOut{.limit_name = true, .temperature = true}));
}

TEST(LeftOutTest, WhatIsNamedFirstIsMeant) {
  EXPECT_EQ(next_of(R"({"detail":"Unknown stream_options. Known: temperature, max_tokens"})"),
            LeftOut{.stream_options = true});
}

TEST(LeftOutTest, NothingIsLeftOutTwiceOrForAnotherReason) {
  EXPECT_EQ(next_of(refused_temperature, 400, {.temperature = true}), std::nullopt);
  EXPECT_EQ(next_of(refused_temperature, 500), std::nullopt);
  EXPECT_EQ(leave_out_next({}, R"({"max_tokens":5})", 400, refused_temperature), std::nullopt)
      << "it was not there";
  EXPECT_EQ(next_of(R"({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too )"
                    R"(large: 16384. This model's maximum context length is 8192 tokens"}})"),
            std::nullopt);
  EXPECT_EQ(next_of(R"({"error":{"message":"temperature: out of its range"}})"), std::nullopt);
  EXPECT_EQ(next_of("unsupported"), std::nullopt);
  EXPECT_EQ(next_of(""), std::nullopt);
}

TEST(LeftOutTest, ABodyKeepsTheRest) {
  EXPECT_EQ(body_without({}, sent_body), sent_body);
  EXPECT_EQ(body_without({.limit_name = true}, sent_body),
            R"({"max_completion_tokens":5,"stream":true,"stream_options":{"include_usage":true},)"
            R"("temperature":0.5})");
  EXPECT_EQ(body_without({.limit_name = true}, R"({"max_completion_tokens":5})"),
            R"({"max_tokens":5})");
  EXPECT_EQ(body_without({.temperature = true, .stream_options = true}, sent_body),
            R"({"max_tokens":5,"stream":true})");
}

TEST(LeftOutTest, AServerThatRefusesTheLimitsNameGetsTheOtherAndKeepsGettingIt) {
  const HttpServer server(refuses("\"max_tokens\"", answers(400, "application/json", refused_limit),
                                  api_handler(test_key)));
  const auto chat = chat_at(server.url(), false);
  for (int i = 0; i < 2; ++i) {
    const Heard heard = ask(*chat, small_request());
    ASSERT_TRUE(heard.tried.reply.answer) << heard.tried.failure->error.text();
    EXPECT_EQ(heard.tried.reply.answer->text, "You said: Faster, please.");
  }
  ASSERT_THAT(server.seen(), SizeIs(3)) << "refused once";
  EXPECT_THAT(server.seen()[2].body,
              AllOf(HasSubstr(R"("max_completion_tokens":100)"), Not(HasSubstr("max_tokens"))));
  EXPECT_THAT(chat->body(small_request()), HasSubstr(R"("max_tokens":100)"))
      << "what is kept of a call does not change";
}

TEST(LeftOutTest, SeveralParametersAreLeftOutOneAfterTheOther) {
  const HttpServer server(refuses(
      "\"temperature\"", answers(400, "application/json", refused_temperature),
      refuses("\"stream_options\"", answers(422, "application/json", refused_stream_options),
              refuses("\"max_tokens\"", answers(400, "application/json", refused_limit),
                      api_handler(test_key)))));
  const auto chat = chat_at(server.url(), false);
  const Heard heard = ask(*chat, request_with_temperature());
  ASSERT_TRUE(heard.tried.reply.answer) << heard.tried.failure->error.text();
  EXPECT_FALSE(heard.tried.reply.answer->usage_known) << "it was not asked for";
  EXPECT_THAT(server.seen(), SizeIs(4));
}

TEST(LeftOutTest, AnthropicsModelsMayRefuseATemperatureToo) {
  const HttpServer server(
      refuses("\"temperature\"",
              answers(400, "application/json",
                      R"({"type":"error","error":{"type":"invalid_request_error","message":)"
                      R"("`temperature` is deprecated for this model."}})"),
              api_handler(test_key)));
  const Heard heard = ask(*chat_at(server.url(), true), request_with_temperature());
  EXPECT_TRUE(heard.tried.reply.answer) << heard.tried.failure->error.text();
  EXPECT_THAT(server.seen(), SizeIs(2));
}

TEST(LeftOutTest, WhatIsRefusedWithoutItTooIsAFailureAndNotRemembered) {
  const HttpServer server(answers(400, "application/json", refused_temperature));
  const auto chat = chat_at(server.url(), false);
  for (const std::size_t seen : {2U, 4U}) {
    const Heard heard = ask(*chat, request_with_temperature());
    ASSERT_TRUE(heard.tried.failure);
    EXPECT_TRUE(heard.tried.failure->for_all);
    EXPECT_FALSE(heard.tried.failure->may_cost);
    EXPECT_THAT(server.seen(), SizeIs(seen));
  }
}

TEST(LeftOutTest, AParameterThatAllRequestsHaveStopsTheRun) {
  for (const std::string code :
       {"unsupported_parameter", "unsupported_value", "unknown_parameter"}) {
    const ChatFailure failure = failure_from(
        answers(400, "application/json",
                refusal_of("messages", "'messages[0].role' does not support 'system'", code)),
        false);
    EXPECT_TRUE(failure.for_all);
    EXPECT_FALSE(failure.retriable);
    EXPECT_FALSE(failure.may_cost);
    EXPECT_EQ(failure.error.kind, ErrorKind::bad_input);
    EXPECT_THAT(failure.error.text(),
                HasSubstr("the request was refused (HTTP 400: 'messages[0].role' does not support "
                          "'system'), as every other would be; can the model some-model be asked "
                          "so?"));
  }
}

TEST(LeftOutTest, CallsAtOnceLearnItTogether) {
  const HttpServer server(refuses("\"max_tokens\"", answers(400, "application/json", refused_limit),
                                  api_handler(test_key)));
  const auto chat = chat_at(server.url(), false);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back(
          [&] { right += ask(*chat, small_request()).tried.reply.answer ? 1 : 0; });
    }
  }
  EXPECT_EQ(right, 8);
}

}  // namespace
}  // namespace kernelpro
