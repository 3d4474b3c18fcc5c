#include "coordinator/llm/token_count.hpp"

#include <gmock/gmock.h>

#include "coordinator/llm/call_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Ge;
using ::testing::Gt;
using ::testing::Lt;
using testing::request_of;

TEST(TokenCount, ABoundHasATokenForEveryByteOfUtf8) {
  const std::string text = "ünïcode \xF0\x9F\x98\x80 and {braces}";
  EXPECT_THAT(most_input_tokens(request_of(text)), Ge(static_cast<std::int64_t>(text.size())));
  const std::string longer = text + std::string(1000, '{');
  EXPECT_EQ(most_input_tokens(request_of(longer)) - most_input_tokens(request_of(text)), 1000);
}

TEST(TokenCount, ABoundCountsWhatIsSentInsteadOfBytesThatAreNoUtf8) {
  const std::int64_t valid = most_input_tokens(request_of("a"));
  EXPECT_EQ(most_input_tokens(request_of("\xFF")) - valid, 2) << "U+FFFD has three bytes";
}

TEST(TokenCount, EveryPartOfARequestCountsForTheBound) {
  ChatRequest request = request_of("text");
  std::int64_t last = most_input_tokens(request);
  const auto grows_by = [&](std::int64_t bytes, const char* what) {
    const std::int64_t now = most_input_tokens(request);
    EXPECT_THAT(now - last, Ge(bytes)) << what;
    last = now;
  };
  request.system += std::string(50, 's');
  grows_by(50, "system");
  request.messages.push_back({.speaker = Speaker::assistant,
                              .text = std::string(60, 'a'),
                              .calls = {{"id", "name", R"({"about": "class"})"}},
                              .answers = {}});
  grows_by(60 + 2 + 4 + 17, "a message that calls a tool");
  request.messages.push_back(
      {.speaker = Speaker::tool, .text = std::string(70, 't'), .calls = {}, .answers = "id"});
  grows_by(72, "a tool's answer");
  request.messages.push_back({.speaker = Speaker::assistant,
                              .text = "",
                              .calls = {{"", "", "\x01\x02 no JSON"}},
                              .answers = {}});
  grows_by(12 + 10, "arguments that are no JSON, with their escapes");
  request.tools.push_back({"look", std::string(80, 'd'), R"({"type": "object"})"});
  grows_by(4 + 80 + 4 * 17, "a tool");
}

TEST(TokenCount, AnEstimateIsAboutTwoSeventhsOfTheBytes) {
  EXPECT_EQ(about_tokens(""), 0);
  EXPECT_EQ(about_tokens("a"), 1);
  EXPECT_EQ(about_tokens(std::string(35, 'a')), 10);
  EXPECT_EQ(about_tokens(std::string(36, 'a')), 11);
  const ChatRequest request = request_of(std::string(3500, 'x'));
  EXPECT_THAT(about_input_tokens(request), Gt(1000));
  EXPECT_THAT(about_input_tokens(request), Lt(most_input_tokens(request)));
}

TEST(TokenCount, AnAnswerIsEstimatedWithItsCallsOfTools) {
  ChatAnswer answer;
  answer.text = std::string(35, 'a');
  EXPECT_EQ(about_output_tokens(answer), 10);
  answer.calls = {{"id", "look", std::string(31, '{')}};
  EXPECT_EQ(about_output_tokens(answer), 20);
}

}  // namespace
}  // namespace kernelpro
