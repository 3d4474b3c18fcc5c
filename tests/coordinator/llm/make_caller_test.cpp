#include "coordinator/llm/make_caller.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/calls_sample.hpp"
#include "coordinator/llm/transcript.hpp"

namespace kernelpro {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::MemoryJournal;
using testing::request_of;
using testing::sample_answer;
using testing::sample_call;

class MakeCallerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("make-caller-test");
    ASSERT_TRUE(made.ok()) << error_text(made);
    scratch_.emplace(std::move(*made));
    settings_.llm = "batch:" + (scratch_->path() / "batch").string();
  }

  [[nodiscard]] std::unique_ptr<BudgetedCaller> make() {
    auto caller = make_caller("gemm-1", settings_, journal_);
    EXPECT_TRUE(caller.ok()) << error_text(caller);
    return std::move(*caller);
  }
  [[nodiscard]] std::string error_of_make() {
    return error_text(make_caller("gemm-1", settings_, journal_));
  }
  [[nodiscard]] std::string requests(const std::string& folder) const {
    const Result<std::string> text = read_file(scratch_->path() / folder / "requests.jsonl");
    return text ? *text : "";
  }

  MemoryJournal journal_;
  LlmSettings settings_;
  std::optional<ScratchDir> scratch_;
};

TEST_F(MakeCallerTest, RolesShareABatchUnlessTheyHaveTheirOwn) {
  settings_.roles[LlmRole::fixer].llm = "batch:" + (scratch_->path() / "other").string();
  settings_.model = "some-model";
  const auto caller = make();
  for (const LlmRole role : {LlmRole::planner, LlmRole::coder, LlmRole::fixer}) {
    const CallName name{.node = 1, .role = role, .turn = 1};
    EXPECT_EQ(caller->call(name, request_of("Work."), {})->kind, Called::Kind::not_yet);
  }
  ASSERT_TRUE(caller->hand_out().ok());
  EXPECT_THAT(requests("batch"), HasSubstr("gemm-1.1.planner.1."));
  EXPECT_THAT(requests("batch"), HasSubstr("gemm-1.1.coder.1."));
  EXPECT_THAT(requests("batch"), HasSubstr("\"model\":\"some-model\""));
  EXPECT_THAT(requests("batch"), ::testing::Not(HasSubstr("fixer")));
  EXPECT_THAT(requests("other"), HasSubstr("gemm-1.1.fixer.1."));
}

TEST_F(MakeCallerTest, ARoleThatMovesElsewhereWhileItsRequestsWaitTakesThemAlong) {
  const CallName first{.node = 1, .role = LlmRole::planner, .turn = 1};
  const CallName fixer{.node = 2, .role = LlmRole::fixer, .turn = 1};
  auto caller = make();
  ASSERT_TRUE(caller->call(first, request_of("Work."), {}).ok());
  ASSERT_TRUE(caller->call(fixer, request_of("Work."), {}).ok());
  ASSERT_TRUE(caller->hand_out().ok());
  const Charge taken = caller->taken();
  settings_.roles[LlmRole::fixer].llm = "batch:" + (scratch_->path() / "other").string();
  caller = make();
  EXPECT_EQ(error_text(caller->call(first, request_of("Work."), {})), "no error");
  EXPECT_EQ(error_text(caller->call(fixer, request_of("Work."), {})), "no error");
  ASSERT_TRUE(caller->hand_out().ok());
  EXPECT_THAT(requests("batch"), HasSubstr("gemm-1.1.planner.1."));
  EXPECT_THAT(requests("batch"), ::testing::Not(HasSubstr("fixer"))) << "nobody asks there now";
  EXPECT_THAT(requests("other"), HasSubstr("gemm-1.2.fixer.1."));
  EXPECT_EQ(caller->taken(), taken);
  EXPECT_EQ(caller->differing(), 0);
}

TEST_F(MakeCallerTest, WhatWasHandedOutAndIsAskedElsewhereNowIsNotCharged) {
  const CallName fixer{.node = 2, .role = LlmRole::fixer, .turn = 1};
  const CallName first{.node = 1, .role = LlmRole::planner, .turn = 1};
  auto caller = make();
  ASSERT_TRUE(caller->call(fixer, request_of("Work."), {}).ok());
  ASSERT_TRUE(caller->call(first, request_of("Work."), {}).ok());
  ASSERT_TRUE(caller->hand_out().ok());
  const std::string file = (scratch_->path() / "run.jsonl").string();
  ASSERT_TRUE(
      write_file_unsynced(
          file, transcript_text({sample_call(fixer, request_of("Otherwise."), "code")}).value())
          .ok());
  const Usage usage = sample_answer("code").usage;
  settings_.roles[LlmRole::fixer].llm = "replay:" + file;
  caller = make();
  const std::int64_t one_waits = caller->taken().tokens / 2;
  EXPECT_EQ(caller->call(fixer, request_of("Work."), {})->answer.text, "code");
  EXPECT_EQ(caller->taken().tokens, one_waits + usage.input + usage.output);
  EXPECT_EQ(error_text(caller->call(first, request_of("Work."), {})), "no error")
      << "the line of the other is no other run's";
  ASSERT_TRUE(caller->hand_out().ok());
  EXPECT_THAT(requests("batch"), ::testing::Not(HasSubstr("fixer")));
}

TEST_F(MakeCallerTest, AFolderIsTheSameHoweverItIsSpelled) {
  const CallName fixer{.node = 1, .role = LlmRole::fixer, .turn = 1};
  const CallName first{.node = 1, .role = LlmRole::planner, .turn = 1};
  settings_.roles[LlmRole::fixer].llm = settings_.llm + "/";
  for (int process = 0; process < 2; ++process) {
    const auto caller = make();
    EXPECT_EQ(error_text(caller->call(first, request_of("Work."), {})), "no error");
    EXPECT_EQ(error_text(caller->call(fixer, request_of("Work."), {})), "no error");
    ASSERT_TRUE(caller->hand_out().ok());
  }
  EXPECT_THAT(requests("batch"), HasSubstr("gemm-1.1.planner.1."));
  EXPECT_THAT(requests("batch"), HasSubstr("gemm-1.1.fixer.1."));
}

TEST_F(MakeCallerTest, ABatchAsksForAnyModelWhereNoneIsNamed) {
  const auto caller = make();
  const CallName name{.node = 1, .role = LlmRole::coder, .turn = 1};
  ASSERT_TRUE(caller->call(name, request_of("Work."), {}).ok());
  EXPECT_EQ(journal_.call("1.coder.1").model, "any");
}

TEST_F(MakeCallerTest, AReplayAsksForTheModelsOfItsRecording) {
  const std::string file = (scratch_->path() / "run.jsonl").string();
  const CallName name{.node = 1, .role = LlmRole::coder, .turn = 1};
  ChatRequest request = request_of("Work.");
  request.model = "model-a";
  ASSERT_TRUE(
      write_file_unsynced(file, transcript_text({sample_call(name, request, "code")}).value())
          .ok());
  settings_.llm = "replay:" + file;
  const auto caller = make();
  EXPECT_EQ(caller->call(name, request_of("Work."), {})->answer.text, "code");
  EXPECT_EQ(journal_.call("1.coder.1").model, "model-a");
  EXPECT_EQ(caller->differing(), 0);
  const CallName next{.node = 2, .role = LlmRole::coder, .turn = 1};
  EXPECT_THAT(error_text(caller->call(next, request_of("Work."), {})),
              HasSubstr("no call 2.coder.1"));
}

TEST_F(MakeCallerTest, OnlyAReviewerThatIsWantedNeedsAModel) {
  settings_.roles[LlmRole::reviewer].llm = "nobody:there";
  EXPECT_EQ(error_of_make(), "no error");
  settings_.reviewer = true;
  EXPECT_THAT(error_of_make(), HasSubstr("nobody:there"));
}

TEST_F(MakeCallerTest, WhatIsWrongWithTheSettingsIsSaidBeforeAnyCall) {
  settings_.llm = "batch:";
  EXPECT_THAT(error_of_make(), HasSubstr("expected batch:FOLDER"));
  settings_.llm = "replay:/does/not/exist.jsonl";
  EXPECT_THAT(error_of_make(), HasSubstr("/does/not/exist.jsonl"));
  settings_.llm = "batch:somewhere";
  settings_.money_budget = 5;
  EXPECT_THAT(error_of_make(), HasSubstr("--price any=IN/OUT"));
  settings_.prices[""] = {1, 1, 1, 1};
  EXPECT_EQ(error_of_make(), "no error");
}

}  // namespace
}  // namespace kernelpro
