// Answers as they are kept: nothing of them is lost, and nothing else is taken for one.
#include "coordinator/llm/chat_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

ChatAnswer some_answer() {
  ChatAnswer answer;
  answer.text = "```cpp\nint x = '\\n';\n```\n\xC3\xA4";
  answer.calls = {{"call_1", "profile", R"({"level": 2})"}, {"call_2", "profile", "{\"level\":"}};
  answer.stop = StopReason::tool_calls;
  answer.usage = {.input = 1200, .cached = 1000, .cache_written = 100, .output = 37};
  answer.usage_known = true;
  answer.model = "some-model-1";
  return answer;
}

TEST(ChatJsonTest, AnAnswerComesBackAsItWas) {
  const ChatAnswer answer = some_answer();
  const Result<nlohmann::json> parsed = parse_json(to_json(answer).dump());
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const Result<ChatAnswer> back = chat_answer_from_json(*parsed);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->text, answer.text);
  EXPECT_EQ(back->calls, answer.calls);
  EXPECT_EQ(back->stop, answer.stop);
  EXPECT_EQ(back->usage, answer.usage);
  EXPECT_EQ(back->usage_known, answer.usage_known);
  EXPECT_EQ(back->model, answer.model);
  EXPECT_EQ(to_json(*back).dump(), to_json(answer).dump());
}

TEST(ChatJsonTest, EveryReasonToStopHasANameThatIsReadBack) {
  for (int i = 0; i <= static_cast<int>(StopReason::other); ++i) {
    ChatAnswer answer;
    answer.stop = static_cast<StopReason>(i);
    const Result<ChatAnswer> back = chat_answer_from_json(to_json(answer));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->stop, answer.stop);
  }
}

TEST(ChatJsonTest, SaysWhatIsWrongWithOtherJson) {
  const auto complaint = [](auto change) {
    nlohmann::json value = to_json(some_answer());
    change(value);
    const Result<ChatAnswer> read = chat_answer_from_json(value);
    return read.ok() ? std::string("it was taken") : read.error().text();
  };
  EXPECT_THAT(complaint([](auto& value) { value.erase("stop"); }),
              HasSubstr("the key \"stop\" is missing"));
  EXPECT_THAT(complaint([](auto& value) { value["stop"] = "end_turn"; }),
              HasSubstr("/stop: found the string \"end_turn\", expected one of done, length"));
  EXPECT_THAT(complaint([](auto& value) { value["key"] = "x"; }), HasSubstr("/key: unknown key"));
  EXPECT_THAT(complaint([](auto& value) { value["calls"][1].erase("arguments"); }),
              HasSubstr("/calls/1: the key \"arguments\" is missing"));
  EXPECT_THAT(complaint([](auto& value) { value["usage"]["input"] = "many"; }),
              HasSubstr("/usage/input"));
  EXPECT_THAT(complaint([](auto& value) { value = nlohmann::json::array(); }),
              HasSubstr("expected an object"));
}

TEST(ChatJsonTest, ArgumentsThatAreNoObjectGoBackInsideOne) {
  EXPECT_EQ(arguments_object(R"({"a": 1})").dump(), R"({"a":1})");
  for (const std::string nonsense : {"", "{\"a\":", "[1]", "3", "\xFF"}) {
    const nlohmann::json object = arguments_object(nonsense);
    ASSERT_TRUE(object.contains("unreadable_arguments")) << nonsense;
    EXPECT_EQ(object.size(), 1U);
    EXPECT_NO_THROW((void)object.dump());
  }
}

TEST(ChatJsonTest, AToolWithoutAReadableSchemaTakesNoArguments) {
  EXPECT_EQ(schema_object(R"({"type":"object","required":["a"]})")["required"][0], "a");
  EXPECT_EQ(schema_object("").dump(), R"({"properties":{},"type":"object"})");
  EXPECT_EQ(schema_object("[]").dump(), R"({"properties":{},"type":"object"})");
}

}  // namespace
}  // namespace kernelpro
