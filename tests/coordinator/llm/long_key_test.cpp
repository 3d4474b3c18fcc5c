// A key longer than what is shown of a text, sent back by the server: no piece of it is seen.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coordinator/llm/http_chats.hpp"

namespace kernelpro {
namespace {

using llm_server::answers;
using llm_server::Handler;
using llm_server::HttpServer;
using llm_server::streams;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Every way to say it when there is no answer; what is JSON with its slashes escaped if wished.
std::vector<Handler> complaints(const std::string& said, bool escaped) {
  const auto text = [escaped](const json& value) {
    return escaped ? replaced(value.dump(), "/", "\\/") : value.dump();
  };
  const std::string as_json = "application/json";
  const json error = {{"error", {{"message", said}, {"type", "x"}}}};
  const std::string whole = text(error);
  const std::string quoted = text(said);
  return {answers(401, as_json, whole),
          answers(400, as_json, text({{"error", {{"message", "no"}, {"type", said}}}})),
          answers(422, as_json, text({{"detail", json::array({{{"msg", said}}})}})),
          answers(500, as_json, text(json::array({said}))),
          answers(500, "text/plain", said),
          answers(500, "text/html", "<html><title>" + said + "</title></html>"),
          answers(404, "text/html", said),
          answers(200, "text/html", said),
          answers(200, as_json, "{\"a\": " + quoted + " broken"),
          answers(200, as_json, "{\"a\": " + quoted.substr(0, quoted.size() - 1)),
          answers(200, as_json, whole),
          answers(200, as_json, text({{"error", {{"message", said}, {"code", 429}}}})),
          answers(200, as_json, text({{"error", {{"message", "no"}, {"type", said}}}})),
          answers(307, "", "", {"Location: http://elsewhere/?key=" + said}),
          answers(200, said, "what"),
          streams({"data: " + whole + "\n\n"}),
          streams({"data: {\"a\": " + quoted + " broken\n\n"}),
          streams({"event: error\ndata: " + text({{"message", said}}) + "\n\n"}),
          streams({"event: error\ndata: " + said + "\n\n"})};
}

class LongKeyTest : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Providers, LongKeyTest, ::testing::Values(true, false),
                         [](const auto& which) { return which.param ? "anthropic" : "openai"; });

TEST_P(LongKeyTest, NoPieceOfItIsSeenWhereATextIsCut) {
  std::string key = "sk-proj-";
  for (int i = 0; key.size() < 164; ++i) {
    key += i % 40 == 39 ? '/' : static_cast<char>('a' + (i * 7 + i / 26) % 26);
  }
  for (const std::size_t before : {0U, 40U, 100U, 140U, 170U, 190U}) {
    for (const bool escaped : {false, true}) {
      int form = 0;
      for (const Handler& handler : complaints(std::string(before, '.') + key, escaped)) {
        const HttpServer server(handler);
        const Heard heard = ask(*chat_at(server.url(), GetParam(), 60, 60, key), small_request());
        ASSERT_TRUE(heard.tried.failure);
        const std::string text = heard.tried.failure->error.text();
        for (std::size_t at = 0; at + 12 <= key.size(); ++at) {
          ASSERT_THAT(text, Not(HasSubstr(key.substr(at, 12))))
              << "form " << form << ", " << before << " before it, escaped " << escaped;
        }
        ++form;
      }
    }
  }
}

}  // namespace
}  // namespace kernelpro
