#include "coordinator/llm/replay_chat.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "coordinator/llm/anthropic.hpp"
#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/calls_sample.hpp"
#include "coordinator/llm/transcript.hpp"

namespace kernelpro {
namespace {

using testing::all_roles;
using testing::coder;
using testing::error_text;
using ::testing::HasSubstr;
using testing::hasty;
using testing::MemoryJournal;
using testing::request_of;
using testing::sample_answer;
using testing::sample_call;

const CallName fixer{.node = 8, .role = LlmRole::fixer, .turn = 1};

class ReplayChatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("replay-test");
    ASSERT_TRUE(made.ok()) << error_text(made);
    scratch_.emplace(std::move(*made));
  }

  [[nodiscard]] std::unique_ptr<ReplayChat> open(const std::vector<LlmCall>& calls) const {
    EXPECT_TRUE(write_file_unsynced(file(), transcript_text(calls).value()).ok());
    auto chat = ReplayChat::open(file());
    EXPECT_TRUE(chat.ok()) << error_text(chat);
    return std::move(*chat);
  }
  [[nodiscard]] std::filesystem::path file() const { return scratch_->path() / "run.jsonl"; }
  static Chat::Tried ask(Chat& chat, const CallName& name, const ChatRequest& request) {
    return chat.try_once(name.id(), request, {}, {});
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(ReplayChatTest, AnswersByTheIdByteForByte) {
  const std::string text = "```cuda\n// ünïcode\r\n\t\"x\" \xF0\x9F\x98\x80\n```";
  const auto chat = open({sample_call(coder, request_of("Write."), text)});
  const Chat::Tried tried = ask(*chat, coder, request_of("Write."));
  ASSERT_TRUE(tried.reply.answer.has_value());
  EXPECT_EQ(to_json(*tried.reply.answer), to_json(sample_answer(text)));
  EXPECT_EQ(tried.reply.answer->text, text);
  EXPECT_EQ(chat->differing(), 0) << "that it was streamed then makes no difference";
}

TEST_F(ReplayChatTest, AnotherRequestIsAnsweredAndCounted) {
  const auto chat = open({sample_call(coder, request_of("Write."), "code")});
  EXPECT_TRUE(ask(*chat, coder, request_of("Rendered anew.")).reply.answer.has_value());
  EXPECT_EQ(chat->differing(), 1);
}

TEST_F(ReplayChatTest, RequestsInTheFormOfAnyProviderAreCompared) {
  LlmCall newer = sample_call(coder, request_of("Write."), "code");
  newer.request = openai_body(request_of("Write."), true, new_limit_name).dump();
  LlmCall other = sample_call(fixer, request_of("Fix."), "code");
  other.provider = "anthropic";
  other.request = anthropic_dialect(BaseUrl{})->body(request_of("Fix."));
  const auto chat = open({newer, other});
  (void)ask(*chat, coder, request_of("Write."));
  (void)ask(*chat, fixer, request_of("Fix."));
  EXPECT_EQ(chat->differing(), 0);
  (void)ask(*chat, fixer, request_of("Fix it."));
  EXPECT_EQ(chat->differing(), 1);
}

TEST_F(ReplayChatTest, ACallThatWasNotRecordedEndsTheRunAndSaysWhereTheRecordingEnds) {
  const auto chat = open({sample_call(coder, request_of("Write."), "code")});
  const Chat::Tried tried = ask(*chat, fixer, request_of("Fix."));
  ASSERT_TRUE(tried.failure.has_value());
  EXPECT_TRUE(tried.failure->for_all);
  EXPECT_FALSE(tried.failure->retriable);
  EXPECT_THAT(tried.failure->error.text(),
              HasSubstr("run.jsonl: there is no call 8.fixer.1 in this recording: it ends there"));
  EXPECT_THAT(tried.failure->error.text(), HasSubstr("the last is 7.coder.1"));
}

TEST_F(ReplayChatTest, AFailureIsRepeatedToo) {
  LlmCall failed = sample_call(coder, request_of("Write."), "");
  failed.state = CallState::failed;
  failed.answer.clear();
  failed.failure = "https://x: the stream was cut";
  const auto chat = open({failed});
  const Chat::Tried tried = ask(*chat, coder, request_of("Write."));
  ASSERT_TRUE(tried.failure.has_value());
  EXPECT_EQ(tried.failure->error.text(), failed.failure);
  EXPECT_TRUE(tried.failure->may_cost) << "as it did";
  EXPECT_FALSE(tried.failure->retriable);
  EXPECT_FALSE(tried.failure->for_all);
}

TEST_F(ReplayChatTest, TheModelsAreThoseOfTheRecording) {
  ChatRequest request = request_of("Write.");
  request.model = "model-a";
  const auto chat = open({sample_call(coder, request, "code")});
  EXPECT_EQ(chat->model(LlmRole::coder), "model-a");
  EXPECT_EQ(chat->model(LlmRole::planner), "");
  EXPECT_EQ(chat->provider(), "replay");
}

// A run is recorded, its transcript replayed, and the replay recorded again.
TEST_F(ReplayChatTest, AReplayedRunKeepsTheSameAnswersAndCosts) {
  LlmSettings settings;
  settings.prices["m"] = *parse_price("3/15");
  const auto live = std::make_shared<testing::ScriptedChat>([](const std::string& id,
                                                               const ChatRequest&, int,
                                                               const std::stop_token&) {
    return testing::answered(testing::answer_of(id + " \xFF answer", {.input = 50, .output = 9}));
  });
  const std::vector<CallName> names = {coder, fixer};
  const auto run = [&](const std::shared_ptr<Chat>& chat, MemoryJournal& journal) {
    auto caller = BudgetedCaller::create(all_roles(chat), journal, settings, hasty());
    EXPECT_TRUE(caller.ok()) << error_text(caller);
    std::string said;
    for (const CallName& name : names) {
      const Result<Called> called = (*caller)->call(name, request_of("Write."), {});
      EXPECT_TRUE(called.ok()) << error_text(called);
      said += called->answer.text + "\n";
    }
    EXPECT_EQ((*caller)->differing(), 0);
    return std::make_pair(said, (*caller)->taken());
  };
  MemoryJournal recorded;
  const auto first = run(live, recorded);
  MemoryJournal replayed;
  const auto second = run(open(*recorded.all()), replayed);
  EXPECT_EQ(first, second);
  for (const CallName& name : names) {
    EXPECT_EQ(recorded.call(name.id()).answer, replayed.call(name.id()).answer);
  }
}

}  // namespace
}  // namespace kernelpro
