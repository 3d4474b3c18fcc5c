#include "coordinator/llm/transcript.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/calls_sample.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using testing::coder;
using testing::error_text;
using ::testing::HasSubstr;
using testing::request_of;
using testing::sample_call;
using testing::SchemaFile;
using ::testing::SizeIs;
using json = nlohmann::json;

std::vector<LlmCall> some_calls() {
  std::vector<LlmCall> calls = {
      sample_call({.node = 7, .role = LlmRole::planner, .turn = 1}, request_of("Plan."), "plan"),
      sample_call(coder, request_of("Write – ünïcode\n\x01"), "code \"quoted\"\r\n\t"),
      sample_call({.node = 8, .role = LlmRole::fixer, .turn = 2}, request_of("Fix."), "")};
  calls[2].state = CallState::failed;
  calls[2].answer.clear();
  calls[2].answered_by.clear();
  calls[2].failure = "the stream was cut";
  return calls;
}

void expect_same(const LlmCall& read, const LlmCall& written) {
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.node, written.node);
  EXPECT_EQ(read.role, written.role);
  EXPECT_EQ(read.turn, written.turn);
  EXPECT_EQ(read.state, written.state);
  EXPECT_EQ(read.provider, written.provider);
  EXPECT_EQ(read.model, written.model);
  EXPECT_EQ(read.answered_by, written.answered_by);
  EXPECT_EQ(read.request, written.request);
  EXPECT_EQ(read.answer, written.answer);
  EXPECT_EQ(read.failure, written.failure);
  EXPECT_EQ(read.started, written.started);
  EXPECT_EQ(read.latency_ns, written.latency_ns);
  EXPECT_EQ(read.usage, written.usage);
  EXPECT_EQ(read.cost, written.cost);
  EXPECT_EQ(read.priced, written.priced);
}

class TranscriptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("transcript-test");
    ASSERT_TRUE(made.ok()) << error_text(made);
    scratch_.emplace(std::move(*made));
  }

  [[nodiscard]] std::filesystem::path file() const { return scratch_->path() / "run.jsonl"; }
  [[nodiscard]] std::string error_of(const std::string& content) const {
    EXPECT_TRUE(write_file_unsynced(file(), content).ok());
    return error_text(read_transcript(file()));
  }
  // The line of a call, changed.
  [[nodiscard]] std::string error_with(const std::string& pointer, const json& value) const {
    json line = json::parse(*transcript_text({some_calls()[1]}));
    line[json::json_pointer(pointer)] = value;
    return error_of(line.dump() + "\n");
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(TranscriptTest, CallsAreReadAsTheyWereWritten) {
  const std::vector<LlmCall> calls = some_calls();
  ASSERT_TRUE(write_file_unsynced(file(), transcript_text(calls).value()).ok());
  const Result<std::vector<LlmCall>> read = read_transcript(file());
  ASSERT_TRUE(read.ok()) << error_text(read);
  ASSERT_THAT(*read, SizeIs(calls.size()));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    expect_same((*read)[i], calls[i]);
  }
  EXPECT_EQ(*transcript_text(*read), *transcript_text(calls));
}

TEST_F(TranscriptTest, EveryLineFitsTheSchema) {
  const SchemaFile schema("transcript_line.json");
  std::istringstream lines(*transcript_text(some_calls()));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(schema.complaints(json::parse(line)), "");
  }
  EXPECT_EQ(count, 3);
}

TEST_F(TranscriptTest, ACallThatWaitsIsLeftOut) {
  std::vector<LlmCall> calls = some_calls();
  calls[0].state = CallState::waiting;
  ASSERT_TRUE(write_file_unsynced(file(), transcript_text(calls).value()).ok());
  EXPECT_THAT(*read_transcript(file()), SizeIs(2));
}

// Schema and reader agree on what is wrong.
TEST_F(TranscriptTest, WhatDoesNotFitIsAnErrorThatNamesFileLineAndPlace) {
  const SchemaFile schema("transcript_line.json");
  const json good = json::parse(*transcript_text({some_calls()[1]}));
  const std::vector<std::pair<std::string, json>> damages = {
      {"/version", 2},
      {"/id", 7},
      {"/node", -1},
      {"/role", "cook"},
      {"/turn", "first"},
      {"/provider", nullptr},
      {"/request", "text"},
      {"/answer", "text"},
      {"/answer/stop", "tired"},
      {"/answer/calls/0/id", 1},
      {"/usage/input", -5},
      {"/usage/more", 5},
      {"/cost", 0.5},
      {"/priced", "yes"},
      {"/latency_ns", -1},
      {"/surplus", 1},
      {"/failure", false},
  };
  for (const auto& [pointer, value] : damages) {
    json line = good;
    line[json::json_pointer(pointer)] = value;
    EXPECT_NE(schema.complaints(line), "") << pointer;
    const std::string error = error_of(line.dump() + "\n");
    EXPECT_THAT(error, HasSubstr(file().string() + ":1: ")) << pointer;
    EXPECT_THAT(error, HasSubstr(pointer.substr(0, pointer.find('/', 1)))) << error;
  }
  for (const auto& [key, value] : good.items()) {
    json line = good;
    line.erase(key);
    EXPECT_NE(schema.complaints(line), "") << key;
    EXPECT_THAT(error_of(line.dump()), HasSubstr("\"" + key + "\" is missing"));
  }
}

TEST_F(TranscriptTest, AnIdThatIsNotThatOfNodeRoleAndTurnIsAnError) {
  EXPECT_THAT(error_with("/id", "7.coder.2"), HasSubstr("expected \"7.coder.1\""));
}

TEST_F(TranscriptTest, ThereIsAnAnswerOrAFailure) {
  EXPECT_THAT(error_with("/failure", "but it failed"), HasSubstr("both an answer and a failure"));
  EXPECT_THAT(error_with("/answer", nullptr), HasSubstr("neither an answer nor a failure"));
}

TEST_F(TranscriptTest, ACallTwiceIsAnErrorThatNamesBothLines) {
  const std::string text = *transcript_text(some_calls());
  const std::string error = error_of(text + text);
  EXPECT_THAT(error, HasSubstr(file().string() + ":4: "));
  EXPECT_THAT(error, HasSubstr("7.planner.1 is there twice, first at " + file().string() + ":1"));
}

TEST_F(TranscriptTest, WhatIsNoTranscriptIsSaidToBeNone) {
  EXPECT_THAT(error_of(""), HasSubstr("no call in it"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr(":1: the line is no JSON"));
  EXPECT_THAT(error_of("[]\n"), HasSubstr("expected an object"));
  const std::string text = *transcript_text(some_calls());
  EXPECT_THAT(error_of(text.substr(0, text.size() - 20)),
              HasSubstr(":3: the line is no JSON, it may be cut"));
  EXPECT_THAT(error_text(read_transcript(scratch_->path() / "missing.jsonl")),
              HasSubstr("missing.jsonl"));
}

}  // namespace
}  // namespace kernelpro
