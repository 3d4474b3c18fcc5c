// What both providers may do to us, and that a key is never seen again.
#include "coordinator/llm/http_chat.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/http_chats.hpp"

namespace kernelpro {
namespace {

using llm_server::answers;
using llm_server::api_handler;
using llm_server::cuts_after;
using llm_server::dribbles;
using llm_server::Handler;
using llm_server::hangs_after;
using llm_server::HttpServer;
using llm_server::in_turn;
using llm_server::pauses;
using llm_server::Seen;
using llm_server::streams;
using llm_server::Wire;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class HttpChatTest : public ::testing::TestWithParam<bool> {
 protected:
  static bool anthropic() { return GetParam(); }

  static ChatFailure failed(Handler handler, const ChatRequest& request = small_request()) {
    return failure_from(std::move(handler), anthropic(), request);
  }

  static ChatFailure failed_model(const std::string& model) {
    ChatRequest request = small_request();
    request.model = model;
    return failed(api_handler(test_key), request);
  }

  // A stream of one piece of text, and of one that is a call of a tool.
  static std::vector<std::string> stream_of(const std::string& text, const std::string& arguments) {
    const auto event = [](const json& data) { return "data: " + data.dump() + "\n\n"; };
    if (anthropic()) {
      return {event({{"type", "message_start"}, {"message", {{"model", "m"}}}}),
              event({{"type", "content_block_delta"},
                     {"delta", {{"type", "text_delta"}, {"text", text}}}}),
              event({{"type", "content_block_start"},
                     {"index", 1},
                     {"content_block", {{"type", "tool_use"}, {"id", "a"}, {"name", "f"}}}}),
              event({{"type", "content_block_delta"},
                     {"index", 1},
                     {"delta", {{"type", "input_json_delta"}, {"partial_json", arguments}}}}),
              event({{"type", "message_delta"}, {"delta", {{"stop_reason", "tool_use"}}}}),
              event({{"type", "message_stop"}})};
    }
    const json call = {
        {"index", 0}, {"id", "a"}, {"function", {{"name", "f"}, {"arguments", arguments}}}};
    return {event({{"choices", json::array({{{"delta", {{"content", text}}}}})}}),
            event({{"choices", json::array({{{"delta", {{"tool_calls", json::array({call})}}},
                                             {"finish_reason", "tool_calls"}}})}}),
            "data: [DONE]\n\n"};
  }
};

INSTANTIATE_TEST_SUITE_P(Providers, HttpChatTest, ::testing::Values(true, false),
                         [](const auto& which) { return which.param ? "anthropic" : "openai"; });

TEST_P(HttpChatTest, AWrongKeyIsSaidToBeOneAndNotTriedAgain) {
  const ChatFailure failure = failed(api_handler("another-key"));
  EXPECT_FALSE(failure.retriable);
  EXPECT_FALSE(failure.may_cost);
  EXPECT_TRUE(failure.for_all);
  EXPECT_EQ(failure.error.kind, ErrorKind::bad_input);
  EXPECT_THAT(failure.error.text(), AllOf(HasSubstr("the provider wants another key (HTTP 401"),
                                          HasSubstr("sent was: the key in FILE")));
}

TEST_P(HttpChatTest, AnUnknownModelIsNamed) {
  const ChatFailure failure = failed_model("no-such-model");
  EXPECT_FALSE(failure.retriable);
  EXPECT_TRUE(failure.for_all);
  EXPECT_THAT(failure.error.text(), HasSubstr("is there a model no-such-model"));
}

TEST_P(HttpChatTest, AnExhaustedQuotaIsNotTriedAgain) {
  const ChatFailure failure = failed_model("broke-model");
  EXPECT_FALSE(failure.retriable);
  EXPECT_TRUE(failure.for_all);
  EXPECT_FALSE(failure.may_cost);
  EXPECT_EQ(failure.error.kind, ErrorKind::environment);
  EXPECT_THAT(failure.error.text(), HasSubstr("no quota is left"));
}

TEST_P(HttpChatTest, TooManyRequestsAreTriedAgainWhenTheProviderSays) {
  const ChatFailure failure = failed_model("limited-model");
  EXPECT_TRUE(failure.retriable);
  EXPECT_FALSE(failure.may_cost);
  EXPECT_FALSE(failure.for_all);
  EXPECT_EQ(failure.retry_after_seconds, 1);
  EXPECT_EQ(failure.error.kind, ErrorKind::busy);
  EXPECT_THAT(failure.error.text(), HasSubstr("too many requests (HTTP 429"));
  const ChatFailure dated = failed(
      answers(429, "application/json", "{}", {"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"}));
  EXPECT_EQ(dated.retry_after_seconds, 0);
}

TEST_P(HttpChatTest, EachStatusIsTriedAgainOrNot) {
  const std::string body = R"({"error":{"message":"because"}})";
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    const ChatFailure failure = failed(answers(status, "application/json", body));
    EXPECT_TRUE(failure.retriable) << status;
    EXPECT_FALSE(failure.for_all) << status;
    EXPECT_EQ(failure.may_cost, status == 502 || status == 504) << status;
    EXPECT_TRUE(failure.away) << status;
    EXPECT_THAT(failure.error.text(), HasSubstr(std::to_string(status) + ": because"));
  }
  for (const int status : {400, 401, 402, 403, 404, 405, 413, 418, 422, 501}) {
    const ChatFailure failure = failed(answers(status, "application/json", body));
    EXPECT_FALSE(failure.retriable) << status;
    EXPECT_FALSE(failure.may_cost) << status;
    EXPECT_FALSE(failure.away) << status;
    EXPECT_THAT(failure.error.text(), HasSubstr(std::to_string(status) + ": because"));
  }
  const ChatFailure refused = failed(answers(400, "application/json", body));
  EXPECT_FALSE(refused.for_all) << "only this request was refused";
  EXPECT_THAT(refused.error.text(), HasSubstr("the request was refused"));
}

TEST_P(HttpChatTest, ErrorsAreReadHoweverTheyAreWritten) {
  const auto said = [](const std::string& type, const std::string& body) {
    return failed(answers(500, type, body)).error.text();
  };
  EXPECT_THAT(said("application/json", R"({"error":"words"})"), HasSubstr("(HTTP 500: words)"));
  EXPECT_THAT(said("application/json", R"({"message":"words"})"), HasSubstr("(HTTP 500: words)"));
  EXPECT_THAT(said("application/json", R"({"detail":"words"})"), HasSubstr("(HTTP 500: words)"));
  EXPECT_THAT(said("text/html", "\n <h1>words</h1>\nmore"),
              HasSubstr("(HTTP 500: <h1>words</h1>)"));
  EXPECT_THAT(said("text/html", "<html>\n<head><title>504 Time-out</title></head>"),
              HasSubstr("(HTTP 500: 504 Time-out)"));
  EXPECT_THAT(said("text/html", "<html>\n</html>"), HasSubstr("(HTTP 500: <html>)"));
  EXPECT_THAT(said("text/html", "<html><TITLE lang=en>\n502 </title>"), HasSubstr("500: 502 )"));
  EXPECT_THAT(said("text/html", "<title"), HasSubstr("(HTTP 500: <title)"));
  EXPECT_THAT(said("application/json", "{\"detail\": [ {\"msg\":\n \"words\"} ]}"),
              HasSubstr(R"((HTTP 500: {"detail":[{"msg":"words"}]}))"));
  EXPECT_THAT(said("text/plain", ""), HasSubstr("(HTTP 500: nothing)"));
  EXPECT_THAT(said("text/plain", "\x1b[2Jwords\x07"), HasSubstr("500: ?[2Jwords?)"));
  EXPECT_THAT(said("text/plain", std::string(3'000, 'x')), SizeIs(::testing::Lt(400)));
  EXPECT_THAT(said("text/plain", "\xFF\xFE"), HasSubstr("\xEF\xBF\xBD"));
}

TEST_P(HttpChatTest, ABaseUrlThatIsNoLlmIsSaidToBeNone) {
  const std::vector<Handler> others = {
      answers(200, "text/html; charset=utf-8", "<!doctype html>\n<html></html>"),
      answers(404, "text/html", "<!doctype html>"), answers(405, "text/html", "<!doctype html>"),
      answers(200, "text/plain", "<!doctype html> hello")};
  for (const Handler& other : others) {
    const ChatFailure failure = failed(other);
    EXPECT_FALSE(failure.retriable);
    EXPECT_TRUE(failure.for_all);
    EXPECT_FALSE(failure.may_cost);
    EXPECT_EQ(failure.error.kind, ErrorKind::bad_input);
    EXPECT_THAT(failure.error.text(), AllOf(HasSubstr("that base URL is no LLM"),
                                            HasSubstr("beginning \"<!doctype html>")));
  }
  EXPECT_THAT(failed(answers(200, "application/json", R"({"status":"ok"})")).error.text(),
              HasSubstr("no LLM"));
  EXPECT_THAT(failed(answers(200, "application/json", "[1, 2]")).error.text(), HasSubstr("no LLM"));
  EXPECT_THAT(failed(answers(200, "", "")).error.text(), HasSubstr("beginning \"nothing\""));
}

TEST_P(HttpChatTest, MalformedJsonIsNotTriedAgain) {
  for (const Handler& handler :
       {answers(200, "application/json", "{\"choices\": [{"), streams({"data: {\"type\": \n\n"}),
        streams({"data: \xFF\xFE\n\n"})}) {
    const ChatFailure failure = failed(handler);
    EXPECT_FALSE(failure.retriable);
    EXPECT_TRUE(failure.may_cost);
    EXPECT_FALSE(failure.for_all);
    EXPECT_THAT(failure.error.text(), HasSubstr("the answer cannot be read"));
  }
}

TEST_P(HttpChatTest, EventsOfAnyShapeAreNoHarm) {
  for (const std::string event :
       {"[]", "3", "null", "\"x\"", "{}", R"({"choices":3,"type":3})",
        R"({"choices":[3],"type":"content_block_delta"})",
        R"({"choices":[{"delta":3,"finish_reason":3}],"type":"message_delta","delta":3})",
        R"({"choices":[{"delta":{"content":3,"tool_calls":[3,{"index":"x"}]}}],)"
        R"("type":"content_block_start","index":"x","content_block":{"type":"tool_use"}})",
        R"({"type":"message_start","message":[]})",
        R"({"usage":{"prompt_tokens":-1},"type":"message_delta","usage2":3})"}) {
    const ChatFailure failure = failed(streams({"data: " + event + "\n\n"}));
    EXPECT_EQ(failure.error.kind, ErrorKind::lost) << event;
  }
}

TEST_P(HttpChatTest, ALongAnswerIsTakenWhole) {
  const std::string text(600'000, 'x');
  const std::vector<std::string> one = stream_of(text, "{}");
  EXPECT_EQ(answer_from(streams(one), anthropic()).text, text) << "in one event";
  std::vector<std::string> many;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<std::string> part = stream_of(std::string(600, 'x'), "{}");
    many.push_back(part[anthropic() ? 1 : 0]);
  }
  many.push_back(one[anthropic() ? 4 : 1]);
  EXPECT_EQ(answer_from(streams(many), anthropic()).text, text) << "in a thousand";
}

TEST_P(HttpChatTest, ACallThatTakesTooLongMayHaveCost) {
  const HttpServer server(hangs_after({}));
  const Heard heard = ask(*chat_at(server.url(), anthropic(), 0.2), small_request());
  ASSERT_TRUE(heard.tried.failure);
  EXPECT_EQ(heard.tried.failure->error.kind, ErrorKind::timeout);
  EXPECT_FALSE(heard.tried.failure->retriable);
  EXPECT_TRUE(heard.tried.failure->may_cost);
  EXPECT_THAT(heard.tried.failure->error.text(), HasSubstr("within the time for one call"));
}

TEST_P(HttpChatTest, AStreamThatStallsIsTriedAgain) {
  std::vector<std::string> pieces = stream_of("x", "{}");
  pieces.resize(anthropic() ? 2 : 1);  // up to the text
  const HttpServer server(hangs_after(pieces));
  const Heard heard = ask(*chat_at(server.url(), anthropic(), 60, 0.2), small_request());
  ASSERT_TRUE(heard.tried.failure);
  EXPECT_EQ(heard.tried.failure->error.kind, ErrorKind::timeout);
  EXPECT_TRUE(heard.tried.failure->retriable);
  EXPECT_TRUE(heard.tried.failure->may_cost);
}

TEST_P(HttpChatTest, AModelMayThinkAfterItsFirstEvents) {
  const std::vector<std::string> pieces = stream_of("x", "{}");
  const std::string first = anthropic() ? pieces[0]
                                        : "data: {\"choices\":[{\"delta\":{\"role\":"
                                          "\"assistant\",\"content\":\"\"}}]}\n\n";
  const HttpServer server(pauses({": hello\n\n", first}, 500, pieces));
  const Heard heard = ask(*chat_at(server.url(), anthropic(), 60, 0.2), small_request());
  ASSERT_TRUE(heard.tried.reply.answer) << heard.tried.failure->error.text();
  EXPECT_EQ(heard.tried.reply.answer->text, "x");
}

TEST_P(HttpChatTest, AStreamUnderAnotherTypeIsOne) {
  for (const std::string type : {"application/json", "text/plain", ""}) {
    EXPECT_EQ(answer_from(streams(stream_of("x", "{}"), type), anthropic()).text, "x") << type;
    EXPECT_EQ(answer_from(dribbles(stream_of("x", "{}"), type), anthropic()).text, "x") << type;
  }
  std::vector<std::string> with_comment = stream_of("x", "{}");
  with_comment.insert(with_comment.begin(), ": hello\n\n");
  EXPECT_EQ(answer_from(streams(with_comment, "text/plain"), anthropic()).text, "x");
}

TEST_P(HttpChatTest, AnErrorsTypeIsBoundedAndHarmless) {
  const std::string type = "\x1b[2J\x1b]0;owned\x07" + std::string(5000, 'A');
  const std::string error = json({{"type", type}, {"message", "\x1b[31mwords"}}).dump();
  for (const Handler& handler :
       {answers(200, "application/json", R"({"error":)" + error + "}"),
        streams({R"(data: {"type":"error","error":)" + error + "}\n\n"})}) {
    const std::string text = failed(handler).error.text();
    EXPECT_THAT(text, AllOf(HasSubstr("the provider broke off (?[2J?]0;owned?AAAA"),
                            HasSubstr(": ?[31mwords)"), Not(HasSubstr("\x1b"))));
    EXPECT_THAT(text, SizeIs(::testing::Lt(500)));
  }
}

TEST_P(HttpChatTest, AnEventCalledErrorIsOneHoweverItIsWritten) {
  const auto said = [](const std::string& data) {
    return failed(hangs_after({"event: error\ndata: " + data + "\n\n"})).error.text();
  };
  EXPECT_THAT(said(R"({"error":{"type":"overloaded_error","message":"words"}})"),
              HasSubstr("the provider broke off (overloaded_error: words)"));
  EXPECT_THAT(said(R"({"message":"words","code":"overloaded"})"),
              HasSubstr("the provider broke off (words)"));
  EXPECT_THAT(said("plain words"), HasSubstr("the provider broke off (plain words)"));
}

TEST_P(HttpChatTest, AStopIsAnInterruption) {
  std::stop_source stop;
  const HttpServer server([&stop](const Seen& seen, Wire& wire) {
    stop.request_stop();
    hangs_after({})(seen, wire);
  });
  const Heard heard = ask(*chat_at(server.url(), anthropic()), small_request(), stop.get_token());
  EXPECT_EQ(heard.tried.failure->error.kind, ErrorKind::interrupted);
  EXPECT_FALSE(heard.tried.failure->retriable);
  EXPECT_TRUE(heard.tried.failure->may_cost);
}

TEST_P(HttpChatTest, NobodyThereIsTriedAgainAndCostsNothing) {
  std::string url;
  {
    const HttpServer server(answers(200, "", ""));
    url = server.url();
  }
  const Heard heard = ask(*chat_at(url, anthropic()), small_request());
  EXPECT_TRUE(heard.tried.failure->retriable);
  EXPECT_TRUE(heard.tried.failure->for_all);
  EXPECT_FALSE(heard.tried.failure->may_cost);
  EXPECT_EQ(heard.tried.failure->error.kind, ErrorKind::environment);
  EXPECT_THAT(heard.tried.failure->error.text(),
              AllOf(HasSubstr(url), HasSubstr("nobody answers there")));
}

TEST_P(HttpChatTest, NoSuchHostAndNoTrustSayWhatToDo) {
  const Heard nowhere = ask(*chat_at("http://no..host", anthropic()), small_request());
  EXPECT_FALSE(nowhere.tried.failure->retriable);
  EXPECT_THAT(nowhere.tried.failure->error.text(),
              AllOf(HasSubstr("no such host"), HasSubstr("check the base URL")));
  const HttpServer server(answers(200, "", ""));
  const Heard plain = ask(
      *chat_at("https://127.0.0.1:" + std::to_string(server.port()), anthropic()), small_request());
  EXPECT_FALSE(plain.tried.failure->retriable);
  EXPECT_TRUE(plain.tried.failure->for_all);
  EXPECT_FALSE(plain.tried.failure->may_cost);
  EXPECT_THAT(plain.tried.failure->error.text(),
              AllOf(HasSubstr("no trusted connection"), HasSubstr("SSL_CERT_FILE")));
}

TEST_P(HttpChatTest, WhatIsNoHttpServerIsSaidToBeNone) {
  const ChatFailure failure =
      failed([](const Seen&, Wire& wire) { wire.raw("SSH-2.0-OpenSSH_9.2\r\n"); });
  EXPECT_FALSE(failure.retriable);
  EXPECT_TRUE(failure.for_all);
  EXPECT_FALSE(failure.may_cost);
  EXPECT_EQ(failure.error.kind, ErrorKind::bad_input);
  EXPECT_THAT(failure.error.text(), AllOf(HasSubstr("what answers there is no HTTP server"),
                                          HasSubstr("is the port right")));
}

TEST_P(HttpChatTest, AServerThatSendsUsOnIsNotFollowed) {
  const HttpServer other(answers(200, "", ""));
  const ChatFailure failure = failed(answers(308, "", "", {"Location: " + other.url() + "/v2"}));
  EXPECT_TRUE(failure.for_all);
  EXPECT_THAT(failure.error.text(),
              AllOf(HasSubstr(other.url() + "/v2"), HasSubstr("give it as the base URL")));
  EXPECT_THAT(other.seen(), SizeIs(0));
}

TEST_P(HttpChatTest, CallsAtOnceDoNotDisturbEachOther) {
  const HttpServer server(api_handler(test_key));
  const auto chat = chat_at(server.url(), anthropic());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 5; ++j) {
        const std::string text = "number " + std::to_string(i * 10 + j);
        ChatRequest request = small_request();
        request.messages = {user_says(text)};
        const Heard heard = ask(*chat, request);
        right += heard.tried.reply.answer && heard.pieces == "You said: " + text ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 80);
}

TEST_P(HttpChatTest, WithoutAListenerTheAnswerIsTheSame) {
  const HttpServer server(api_handler(test_key));
  const Chat::Tried tried =
      chat_at(server.url(), anthropic())->try_once("x", small_request(), {}, {});
  EXPECT_EQ(tried.reply.answer->text, "You said: Faster, please.");
}

// All that can be shown or kept of a call.
std::string all_of(const Heard& heard) {
  std::string all = heard.pieces;
  if (heard.tried.failure) {
    all += heard.tried.failure->error.text();
  }
  if (heard.tried.reply.answer) {
    all += to_json(*heard.tried.reply.answer).dump();
  }
  return all;
}

TEST_P(HttpChatTest, AKeyThatTheServerSendsBackIsNotSeen) {
  const std::string said = "your key " + test_key + " is known";
  const std::string as_error = json({{"error", {{"message", said}, {"type", test_key}}}}).dump();
  std::vector<Handler> echoes = {
      answers(401, "application/json", as_error),
      answers(400, "application/json", as_error),
      answers(500, "text/plain", said),
      answers(200, "text/html", said),
      answers(200, "application/json", "{\"" + test_key + "\": broken"),
      answers(200, "application/json", as_error),
      answers(307, "", "", {"Location: http://elsewhere/?key=" + test_key}),
      answers(200, test_key, said),
      streams({"data: " + as_error + "\n\n"}),
      streams({"event: error\ndata: {\"type\":\"error\",\"error\":" +
               json({{"type", "x"}, {"message", said}}).dump() + "}\n\n"}),
      streams({"data: {\"" + test_key + "\n\n"}),
      streams(stream_of(said, "{\"key\":\"" + test_key + "\"}"))};
  int answered = 0;
  for (const Handler& echo : echoes) {
    const HttpServer server(echo);
    const auto chat = chat_at(server.url(), anthropic());
    const Heard heard = ask(*chat, small_request());
    EXPECT_THAT(all_of(heard), Not(HasSubstr(test_key)));
    EXPECT_THAT(chat->body(small_request()), Not(HasSubstr(test_key)));
    answered += heard.tried.reply.answer ? 1 : 0;
  }
  EXPECT_EQ(answered, 1);
}

TEST_P(HttpChatTest, AKeyThatComesBackInPiecesIsNotSeenEither) {
  std::vector<std::string> pieces;
  for (const char c : "say " + test_key + " again") {
    pieces.push_back(stream_of(std::string(1, c), "{}")[anthropic() ? 1 : 0]);
  }
  pieces.push_back(stream_of("", "{}")[anthropic() ? 4 : 1]);
  const HttpServer server(streams(pieces));
  const Heard heard = ask(*chat_at(server.url(), anthropic()), small_request());
  EXPECT_EQ(heard.tried.reply.answer->text, "say [key] again");
  EXPECT_EQ(heard.pieces, "say [key] again");
}

}  // namespace
}  // namespace kernelpro
