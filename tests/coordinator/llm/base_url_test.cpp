// Where a provider is asked.
#include "coordinator/llm/base_url.hpp"

#include <gmock/gmock.h>

#include "coordinator/llm/anthropic.hpp"
#include "coordinator/llm/openai.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string endpoint(std::unique_ptr<Dialect> (*dialect)(const BaseUrl&), const std::string& base) {
  const Result<BaseUrl> parsed = parse_base_url(base);
  EXPECT_TRUE(parsed.ok()) << base;
  return parsed.ok() ? dialect(*parsed)->url() : "";
}

TEST(BaseUrlTest, OpenAiIsAskedWithOrWithoutAVersionInThePath) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"},
      {"http://127.0.0.1:8000/v1//", "http://127.0.0.1:8000/v1/chat/completions"},
      {"https://gate.example/api", "https://gate.example/api/v1/chat/completions"},
      {"https://gate.example/v1beta/openai", "https://gate.example/v1beta/openai/chat/completions"},
      {"https://gate.example/vault", "https://gate.example/vault/v1/chat/completions"},
      {"https://gate.example/inference/chat/completions",
       "https://gate.example/inference/chat/completions"},
      {std::string(openai_url), "https://api.openai.com/v1/chat/completions"}};
  for (const auto& [base, wanted] : cases) {
    EXPECT_EQ(endpoint(openai_dialect, base), wanted) << base;
  }
}

TEST(BaseUrlTest, AnthropicIsAskedWithOrWithoutTheVersion) {
  for (const std::string base : {"http://[::1]:80", "http://[::1]:80/", "http://[::1]:80/v1",
                                 "http://[::1]:80/v1/", "http://[::1]:80/v1/messages"}) {
    EXPECT_EQ(endpoint(anthropic_dialect, base), "http://[::1]:80/v1/messages") << base;
  }
  EXPECT_EQ(endpoint(anthropic_dialect, std::string(anthropic_url)),
            "https://api.anthropic.com/v1/messages");
}

TEST(BaseUrlTest, KnowsThisMachine) {
  for (const std::string here :
       {"http://localhost:8000/v1", "http://127.0.0.1", "http://127.1.2.3", "http://[::1]:8000",
        "https://llm.localhost", "http://LOCALHOST:8000", "http://Llm.LocalHost"}) {
    EXPECT_TRUE(is_loopback_url(here)) << here;
  }
  for (const std::string there : {"http://127.example.com", "http://localhost.example.com",
                                  "http://10.0.0.1", "https://api.openai.com", "", "::"}) {
    EXPECT_FALSE(is_loopback_url(there)) << there;
  }
}

TEST(BaseUrlTest, OtherThingsAreRefused) {
  for (const std::string text : {"", "localhost:8000", "ftp://a/b", "file:///etc/passwd", "http://",
                                 "http:// a", "https//a"}) {
    const Result<BaseUrl> base = parse_base_url(text);
    ASSERT_FALSE(base.ok()) << text;
    EXPECT_EQ(base.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(base.error().text(), HasSubstr("expected http:// or https:// and a host"));
    EXPECT_THAT(base.error().text(), HasSubstr("base URL " + text));
  }
}

TEST(BaseUrlTest, ASecretInAUrlIsRefusedAndNotShown) {
  for (const std::string text :
       {"https://me:hidden-word@gate.example/v1", "https://gate.example/v1?key=hidden-word",
        "https://gate.example/v1#hidden-word"}) {
    const Result<BaseUrl> base = parse_base_url(text);
    ASSERT_FALSE(base.ok());
    EXPECT_THAT(base.error().text(), HasSubstr("no user, password, query"));
    EXPECT_THAT(base.error().text(), Not(HasSubstr("hidden-word")));
  }
}

}  // namespace
}  // namespace kernelpro
