// A model behind a server of ours.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "coordinator/llm/http_chat.hpp"
#include "coordinator/llm/requests.hpp"
#include "support/llm_server/api.hpp"
#include "support/llm_server/behaviors.hpp"

namespace kernelpro {

inline const std::string test_key = "sk-test-0123456789abcdef";

inline std::unique_ptr<HttpChat> chat_at(const std::string& url, bool anthropic,
                                         double timeout_seconds = 60, double stall_seconds = 60,
                                         const std::string& key = test_key) {
  const Result<BaseUrl> base = parse_base_url(url);
  EXPECT_TRUE(base.ok());
  return std::make_unique<HttpChat>(*find_provider(anthropic ? "anthropic" : "openai"), *base,
                                    ApiKey{key, "the key in FILE"}, timeout_seconds, stall_seconds);
}

struct Heard {
  Chat::Tried tried;
  std::string pieces;
  int count = 0;
};

inline Heard ask(HttpChat& chat, const ChatRequest& request, std::stop_token stop = {}) {
  Heard heard;
  heard.tried = chat.try_once(
      "1.coder.1", request,
      [&heard](const std::string& piece) {
        heard.pieces += piece;
        ++heard.count;
      },
      std::move(stop));
  EXPECT_NE(heard.tried.failure.has_value(), heard.tried.reply.answer.has_value());
  return heard;
}

// The answer of a server that does this; a failure fails the test.
inline ChatAnswer answer_from(llm_server::Handler handler, bool anthropic,
                              const ChatRequest& request = small_request()) {
  const llm_server::HttpServer server(std::move(handler));
  const Heard heard = ask(*chat_at(server.url(), anthropic), request);
  EXPECT_FALSE(heard.tried.failure.has_value()) << heard.tried.failure->error.text();
  const ChatAnswer answer = heard.tried.reply.answer.value_or(ChatAnswer{});
  return answer;
}

// The failure of a server that does this; an answer fails the test.
inline ChatFailure failure_from(llm_server::Handler handler, bool anthropic,
                                const ChatRequest& request = small_request()) {
  const llm_server::HttpServer server(std::move(handler));
  const Heard heard = ask(*chat_at(server.url(), anthropic), request);
  EXPECT_TRUE(heard.tried.failure.has_value());
  return heard.tried.failure.value_or(ChatFailure{});
}

}  // namespace kernelpro
