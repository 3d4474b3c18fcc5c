#include "coordinator/propose/agents/agents.hpp"

#include "coordinator/propose/agents/fixture.hpp"

namespace kernelpro {
namespace {

using kernelpro::testing::cuda_source;
using kernelpro::testing::file_text;
using kernelpro::testing::fill_cpu;
using kernelpro::testing::fill_cuda;
using kernelpro::testing::fill_failed;
using kernelpro::testing::fill_torch;
using kernelpro::testing::ListedCaller;
using kernelpro::testing::loaded;
using kernelpro::testing::prompt_folder;
using kernelpro::testing::Situation;
using kernelpro::testing::tried_failed;
using kernelpro::testing::tried_passed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Called good_plan = ListedCaller::answered(
    R"({"move":"vector_loads","plan":"Move float4.\nMind tails.","predicted_gain":1.3,"why":"w"})");

Called code(const std::string& source) {
  return ListedCaller::answered("```cuda\n" + source + "```\n");
}

const Called good_code = code(cuda_source("out[i] = y[i] + x[i];"));
const Called other_code = code(cuda_source("out[i] = 0.0f + y[i] + x[i];"));
const Called prose = ListedCaller::answered("I would rather talk about it.");
const Called content =
    ListedCaller::answered(R"({"follows_plan":true,"honest":true,"objections":[]})");
const Called objecting =
    ListedCaller::answered(R"({"follows_plan":false,"honest":true,"objections":["no float4"]})");

// A run on a GPU, and what comes of the answers.
class AgentsTest : public ::testing::Test {
 protected:
  AgentsTest() { fill_cuda(situation_); }

  LlmSettings& settings() { return *situation_.run.settings.llm; }

  Proposed propose(std::deque<Called> answers) {
    caller_ = std::make_unique<ListedCaller>(std::move(answers));
    const Result<Proposed> out =
        loaded(settings()).propose(situation_.order, *caller_, std::stop_token());
    EXPECT_TRUE(out.ok()) << out.error().text();
    return out.ok() ? *out : Proposed{};
  }

  void fail_parent() {
    fill_failed(
        situation_,
        tried_failed(7, 3, "vector_loads", Outcome::incorrect, "", "out[256] is 0, expected 1.5"),
        cuda_source("out[i] = x[i];"));
  }

  // About as many tokens as are just enough for the planner.
  std::int64_t least_prompt() {
    std::int64_t too_few = 1000;
    std::int64_t enough = 64'000;
    while (enough - too_few > 500) {
      settings().prompt_tokens = (too_few + enough) / 2;
      const bool fits = loaded(settings()).preview(situation_.order).ok();
      (fits ? enough : too_few) = settings().prompt_tokens;
    }
    return enough;
  }

  [[nodiscard]] const std::vector<ChatRequest>& requests() const { return caller_->requests; }

  Situation situation_;
  std::unique_ptr<ListedCaller> caller_;
};

TEST_F(AgentsTest, PlanAndThenWrite) {
  const Proposed out = propose({good_plan, good_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.coder.1"));
  EXPECT_EQ(out.proposal.move, "vector_loads");
  EXPECT_EQ(out.proposal.plan, "Move float4. Mind tails.");
  EXPECT_EQ(out.proposal.predicted_gain, 1.3);
  EXPECT_EQ(out.proposal.candidate.source, cuda_source("out[i] = y[i] + x[i];"));
  EXPECT_EQ(out.proposal.candidate.backend, Backend::cuda);
  EXPECT_EQ(out.proposal.candidate.compiler, "nvcc");
  EXPECT_THAT(out.proposal.candidate.options, ElementsAre("-O3"));
  EXPECT_THAT(out.mishaps, IsEmpty());
  EXPECT_THAT(requests()[1].messages[0].text, HasSubstr("Mind tails."));
  EXPECT_THAT(requests()[0].tools, IsEmpty());
}

TEST_F(AgentsTest, AskTheSameAgainWhenARunIsTakenUp) {
  propose({good_plan, prose, good_code});
  const std::vector<ChatRequest> first = requests();
  propose({good_plan, prose, good_code});
  ASSERT_EQ(requests().size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(requests()[i].system, first[i].system);
    EXPECT_EQ(requests()[i].messages, first[i].messages);
  }
}

TEST_F(AgentsTest, BoundAPrediction) {
  const auto predicting = [this](const std::string& gain) {
    return propose({ListedCaller::answered(R"({"move":"m","plan":"p","why":"w","predicted_gain":)" +
                                           gain + "}"),
                    good_code})
        .proposal.predicted_gain;
  };
  EXPECT_EQ(predicting("1e9"), 100);
  EXPECT_EQ(predicting("-3"), 0.1);
}

TEST_F(AgentsTest, GiveEachRoleItsSettings) {
  settings().roles[LlmRole::coder].temperature = 0.25;
  settings().max_output = 777;
  propose({good_plan, good_code});
  EXPECT_FALSE(requests()[0].temperature.has_value());
  EXPECT_EQ(requests()[1].temperature, 0.25);
  EXPECT_EQ(requests()[1].max_output, 777);
}

TEST_F(AgentsTest, AskAgainOnceWithTheComplaint) {
  const Proposed out = propose({good_plan, prose, good_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.coder.1", "9.coder.2"));
  EXPECT_THAT(out.mishaps, ElementsAre("coder: no code"));
  const std::vector<ChatMessage>& messages = requests()[2].messages;
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_EQ(messages[1].speaker, Speaker::assistant);
  EXPECT_EQ(messages[1].text, prose.answer.text);
  EXPECT_EQ(messages[2].speaker, Speaker::user);
  EXPECT_THAT(messages[2].text, HasSubstr("There is no code in your answer"));
}

TEST_F(AgentsTest, GiveUpAfterTheSecondUnusableAnswer) {
  struct Case {
    Called answer;
    std::string mishap;
  };
  const std::vector<Case> cases = {
      {ListedCaller::answered("```cuda\nint kp_launch(", StopReason::length), "truncated"},
      {ListedCaller::answered("", StopReason::refusal), "refusal"},
      {prose, "no code"},
      {ListedCaller::answered(good_code.answer.text + other_code.answer.text), "two sources"},
      {ListedCaller::answered("```python\nimport torch\n```\n"), "wrong language"},
      {ListedCaller::answered("```cuda\n__global__ void add();\n```\n"), "no kp_launch"},
      {code("// kp:options -O3 -use_fast_math\n" + cuda_source().substr(37)), "unchanged"},
  };
  for (const Case& one : cases) {
    const Proposed out = propose({good_plan, one.answer, one.answer});
    EXPECT_EQ(out.kind, Proposed::Kind::nothing) << one.mishap;
    EXPECT_EQ(out.reason,
              "the coder's answers could not be used: " + one.mishap + ", then " + one.mishap);
    EXPECT_THAT(out.mishaps, ElementsAre("coder: " + one.mishap, "coder: " + one.mishap));
    EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.coder.1", "9.coder.2"));
    EXPECT_THAT(requests()[2].messages[1].text, Not(IsEmpty()));
  }
}

TEST_F(AgentsTest, DoNotWriteWithoutAPlan) {
  const Proposed out = propose({prose, ListedCaller::answered(R"({"move":"Tile!"})")});
  EXPECT_EQ(out.kind, Proposed::Kind::nothing);
  EXPECT_EQ(out.reason, "the planner's answers could not be used: no JSON, then unusable JSON");
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.planner.2"));
}

TEST_F(AgentsTest, WaitForWhoAnswersLater) {
  const Proposed out =
      propose({good_plan, ListedCaller::without(Called::Kind::not_yet, "in the batch")});
  EXPECT_EQ(out.kind, Proposed::Kind::not_yet);
}

TEST_F(AgentsTest, StopWhenTheBudgetIsSpent) {
  const Proposed out = propose({ListedCaller::without(Called::Kind::spent, "12 tokens are left")});
  EXPECT_EQ(out.kind, Proposed::Kind::spent);
  EXPECT_EQ(out.reason, "12 tokens are left");
}

TEST_F(AgentsTest, GiveUpWhereACallFailsForGood) {
  const Proposed out =
      propose({good_plan, ListedCaller::without(Called::Kind::failed, "context too long")});
  EXPECT_EQ(out.kind, Proposed::Kind::nothing);
  EXPECT_EQ(out.reason, "the call of the coder failed: context too long");
  EXPECT_THAT(out.mishaps, ElementsAre("coder: call failed: context too long"));
}

TEST_F(AgentsTest, PassOnAnErrorThatEndsTheRun) {
  ListedCaller nobody({});
  const Result<Proposed> out =
      loaded(settings()).propose(situation_.order, nobody, std::stop_token());
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().message, "nobody answers any more");
}

TEST_F(AgentsTest, RepairAParentThatFailed) {
  fail_parent();
  const Proposed out = propose({good_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(caller_->ids, ElementsAre("9.fixer.1"));
  EXPECT_EQ(out.proposal.move, "repair");
  EXPECT_EQ(out.proposal.plan, "Repair node 7: out[256] is 0, expected 1.5");
  EXPECT_EQ(out.proposal.predicted_gain, 1);
  EXPECT_THAT(requests()[0].messages[0].text, HasSubstr("out[256] is 0, expected 1.5"));
}

TEST_F(AgentsTest, RepairSoOftenInARowOnly) {
  fail_parent();
  settings().repairs = 2;
  situation_.order.branch.push_back(
      tried_failed(6, 3, "repair", Outcome::crashed, "guard", "it touched memory"));
  EXPECT_EQ(propose({good_code}).kind, Proposed::Kind::candidate);
  situation_.order.branch.push_back(
      tried_failed(7, 6, "repair", Outcome::crashed, "guard", "it touched memory"));
  const Proposed out = propose({});
  EXPECT_EQ(out.kind, Proposed::Kind::nothing);
  EXPECT_EQ(out.reason, "3 failures in a row: 2 may be repaired");
  EXPECT_THAT(caller_->ids, IsEmpty());
}

TEST_F(AgentsTest, AskNobodyAboutAParentThatWasNotJudged) {
  situation_.order.parent_tried.node.outcome = Outcome::not_judged;
  const Proposed out = propose({});
  EXPECT_EQ(out.kind, Proposed::Kind::nothing);
  EXPECT_EQ(out.reason, "node 3 was not judged");
}

TEST_F(AgentsTest, WriteTheFirstKernelForAModule) {
  fill_torch(situation_);
  const Proposed out =
      propose({good_plan, code("#include \"kernelpro/candidate.h\"\n" + cuda_source().substr(37))});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_EQ(out.proposal.move, "first_kernel");
  EXPECT_EQ(out.proposal.plan, "vector_loads: Move float4. Mind tails.");
  EXPECT_THAT(caller_->requests[1].messages[0].text, HasSubstr("Move `vector_loads`"));
  EXPECT_EQ(out.proposal.candidate.compiler, "nvcc");
  EXPECT_THAT(out.proposal.candidate.options, IsEmpty());
  EXPECT_THAT(out.proposal.candidate.libraries, IsEmpty());
}

TEST_F(AgentsTest, LetAReviewerLookAtTheCode) {
  settings().reviewer = true;
  const Proposed out = propose({good_plan, good_code, content});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate);
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.coder.1", "9.reviewer.1"));
  EXPECT_THAT(requests()[2].messages[0].text, HasSubstr("out[i] = y[i] + x[i];"));
  EXPECT_THAT(out.mishaps, IsEmpty());
}

TEST_F(AgentsTest, TakeAnObjectionBackToTheAuthorOnce) {
  settings().reviewer = true;
  const Proposed out = propose({good_plan, good_code, objecting, other_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate);
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.coder.1", "9.reviewer.1", "9.coder.2"));
  EXPECT_THAT(out.proposal.candidate.source, HasSubstr("0.0f + y[i]"));
  EXPECT_THAT(out.mishaps, ElementsAre("reviewer: objected: the code does not do what the plan "
                                       "says; no float4"));
  ASSERT_THAT(requests()[3].messages, SizeIs(3));
  EXPECT_THAT(requests()[3].messages[2].text, HasSubstr("- no float4\n"));
}

TEST_F(AgentsTest, LeaveItToTheJudgeWhereNothingComesOfAnObjection) {
  settings().reviewer = true;
  const Proposed out = propose({good_plan, good_code, objecting, prose, prose});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate);
  EXPECT_EQ(out.proposal.candidate.source, cuda_source("out[i] = y[i] + x[i];"));
  EXPECT_THAT(out.mishaps, SizeIs(4));
  EXPECT_EQ(out.mishaps.back(),
            "coder: not revised: the coder's answers could not be used: no code, then no code");
}

TEST_F(AgentsTest, AreNotHeldUpByAReviewerWhoCannotAnswer) {
  settings().reviewer = true;
  EXPECT_EQ(propose({good_plan, good_code, prose, prose}).kind, Proposed::Kind::candidate);
  const Proposed spent =
      propose({good_plan, good_code, ListedCaller::without(Called::Kind::spent, "no tokens")});
  EXPECT_EQ(spent.kind, Proposed::Kind::candidate);
  EXPECT_THAT(spent.mishaps, ElementsAre("reviewer: not asked: no tokens"));
  const Proposed failed =
      propose({good_plan, good_code, ListedCaller::without(Called::Kind::failed, "refused")});
  EXPECT_EQ(failed.kind, Proposed::Kind::candidate);
  const Proposed later =
      propose({good_plan, good_code, ListedCaller::without(Called::Kind::not_yet, "")});
  EXPECT_EQ(later.kind, Proposed::Kind::not_yet);
}

TEST_F(AgentsTest, ReviewRepairsToo) {
  fail_parent();
  settings().reviewer = true;
  const Proposed out = propose({good_code, objecting, other_code});
  EXPECT_THAT(caller_->ids, ElementsAre("9.fixer.1", "9.reviewer.1", "9.fixer.2"));
  EXPECT_THAT(out.proposal.candidate.source, HasSubstr("0.0f + y[i]"));
}

TEST_F(AgentsTest, LetModelsLookAtTheProfile) {
  settings().tools = ToolUse::reactive;
  const Proposed out = propose(
      {ListedCaller::tool("look_at_profile", R"({"about":"findings"})"), good_plan, good_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(caller_->ids, ElementsAre("9.planner.1", "9.planner.2", "9.coder.1"));
  ASSERT_THAT(requests()[0].tools, SizeIs(1));
  EXPECT_THAT(requests()[0].messages[0].text, Not(HasSubstr("Each thread moves 4 bytes")));
  const std::vector<ChatMessage>& messages = requests()[1].messages;
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_THAT(messages[1].calls, SizeIs(1));
  EXPECT_EQ(messages[2].speaker, Speaker::tool);
  EXPECT_EQ(messages[2].answers, "call_1");
  EXPECT_FALSE(messages[2].failed);
  EXPECT_THAT(messages[2].text, StartsWith("1. **Each thread moves 4 bytes at a time**"));
  EXPECT_THAT(out.mishaps, IsEmpty());
}

TEST_F(AgentsTest, RefuseNonsenseInACallOfATool) {
  settings().tools = ToolUse::reactive;
  for (const auto& [name, arguments, complaint] :
       {std::tuple("look_at_profile", "{\"about\":\"weather\"}",
                   "expected one of \"class\", \"findings\" or \"figures\""),
        std::tuple("look_at_profile", "not JSON", "not valid JSON"),
        std::tuple("look_at_profile", "{}", "about"),
        std::tuple("run_shell", "{}", "There is no tool \"run_shell\"")}) {
    const Proposed out = propose({ListedCaller::tool(name, arguments), good_plan, good_code});
    ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
    ASSERT_THAT(out.mishaps, SizeIs(1));
    EXPECT_THAT(out.mishaps[0], StartsWith("planner: tool call refused: "));
    EXPECT_TRUE(requests()[1].messages[2].failed);
    EXPECT_THAT(requests()[1].messages[2].text, HasSubstr(complaint));
  }
}

TEST_F(AgentsTest, BoundHowOftenToolsAreCalled) {
  settings().tools = ToolUse::reactive;
  const Called look = ListedCaller::tool("look_at_profile", R"({"about":"class"})");
  const Proposed fine = propose({look, look, look, look, good_plan, good_code});
  EXPECT_EQ(fine.kind, Proposed::Kind::candidate);
  EXPECT_THAT(fine.mishaps, IsEmpty());
  const Proposed warned = propose({look, look, look, look, look, good_plan, good_code});
  EXPECT_EQ(warned.kind, Proposed::Kind::candidate);
  EXPECT_THAT(warned.mishaps, ElementsAre("planner: tool call refused: No further looks are left: "
                                          "answer now."));
  const Proposed endless = propose({look, look, look, look, look, look});
  EXPECT_EQ(endless.kind, Proposed::Kind::nothing);
  EXPECT_EQ(endless.reason, "the planner calls tools without end");
}

TEST_F(AgentsTest, OfferNoToolWithoutFeedback) {
  settings().tools = ToolUse::reactive;
  situation_.run.settings.feedback = Feedback::none;
  const Proposed out = propose({ListedCaller::tool("look_at_profile", "{}"), good_plan, good_code});
  EXPECT_THAT(requests()[0].tools, IsEmpty());
  EXPECT_THAT(out.mishaps, ElementsAre("planner: tool call refused: There are no tools here: "
                                       "answer as asked."));
}

TEST_F(AgentsTest, ShowOnlyFiguresWhereFeedbackIsRaw) {
  settings().tools = ToolUse::reactive;
  situation_.run.settings.feedback = Feedback::raw;
  propose({ListedCaller::tool("look_at_profile", R"({"about":"findings"})"),
           ListedCaller::tool("look_at_profile", R"({"about":"figures"})"), good_plan, good_code});
  EXPECT_EQ(requests()[1].messages[2].text, "Only figures are shown in this run.");
  EXPECT_THAT(requests()[2].messages[4].text, HasSubstr("| narrow_loads of add | 32 bits |"));
}

TEST_F(AgentsTest, KeepACandidateWithAMalformedTunable) {
  const Proposed out = propose(
      {good_plan, code("// kp:tune BLOCK = many\n" + cuda_source("out[i] = y[i] + x[i];"))});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate);
  ASSERT_THAT(out.mishaps, SizeIs(1));
  EXPECT_THAT(out.mishaps[0], StartsWith("coder: malformed tunable: "));
}

TEST_F(AgentsTest, ShowWhatTheyWouldAsk) {
  const Result<PromptPreview> plan = loaded(settings()).preview(situation_.order);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  propose({good_plan, good_code});
  EXPECT_EQ(plan->role, LlmRole::planner);
  EXPECT_EQ(plan->request.system, requests()[0].system);
  EXPECT_EQ(plan->request.messages, requests()[0].messages);
  fail_parent();
  const Result<PromptPreview> repair = loaded(settings()).preview(situation_.order);
  ASSERT_TRUE(repair.ok());
  EXPECT_EQ(repair->role, LlmRole::fixer);
  settings().repairs = 0;
  const Result<PromptPreview> none = loaded(settings()).preview(situation_.order);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(),
            "node 9: nobody would be asked: 1 failures in a row: 0 may be repaired");
}

TEST_F(AgentsTest, SayWhenAPromptDoesNotFit) {
  settings().prompt_tokens = 1000;
  ListedCaller caller({});
  const Result<Proposed> out =
      loaded(settings()).propose(situation_.order, caller, std::stop_token());
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().text(), HasSubstr("Raise --prompt-tokens"));
}

// What models write is not the user's fault, and another node may do better.
TEST_F(AgentsTest, GiveUpANodeWhosePromptIsTooLongForItsParent) {
  situation_.order.parent.source += "// " + std::string(400'000, 'x') + "\n";
  const Proposed passed = propose({});
  EXPECT_EQ(passed.kind, Proposed::Kind::nothing);
  EXPECT_THAT(passed.reason, StartsWith("the planner of node 9: its prompt would have about "));
  EXPECT_THAT(passed.mishaps, ElementsAre("planner: prompt too long"));
  fail_parent();
  situation_.order.parent.source += "// " + std::string(400'000, 'x') + "\n";
  EXPECT_THAT(propose({}).mishaps, ElementsAre("fixer: prompt too long"));
}

TEST_F(AgentsTest, StopWhereTheBaselineIsTooLong) {
  situation_.order.parent.source += "// " + std::string(400'000, 'x') + "\n";
  situation_.order.parent_tried.node.id = root_node;
  ListedCaller caller({});
  EXPECT_FALSE(loaded(settings()).propose(situation_.order, caller, std::stop_token()).ok());
}

TEST_F(AgentsTest, GiveUpANodeWhosePlanIsTooLongForTheCoder) {
  const std::string text(7900, 'x');
  settings().prompt_tokens = least_prompt() + 1000;
  const Proposed out = propose({ListedCaller::answered(
      R"({"move":"m","predicted_gain":2,"plan":")" + text + R"(","why":")" + text + R"("})")});
  EXPECT_EQ(out.kind, Proposed::Kind::nothing);
  EXPECT_THAT(out.reason, HasSubstr("; the sections have: plan 4"));
  EXPECT_THAT(out.mishaps, ElementsAre("coder: prompt too long"));
}

TEST_F(AgentsTest, DoWithoutAReviewerForWhomTheSourcesAreTooLong) {
  const std::string text = "// " + std::string(30'000, 'x') + "\n";
  situation_.order.parent.source += text;
  settings().reviewer = true;
  settings().prompt_tokens = least_prompt() + 1000;
  const Proposed out = propose({good_plan, code(cuda_source("out[i] = y[i] + x[i];") + text)});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(out.mishaps, ElementsAre("reviewer: prompt too long"));
}

TEST_F(AgentsTest, AskAgainForASourceThatWouldTakeMostOfAPrompt) {
  const Called endless =
      code(cuda_source("out[i] = y[i] + x[i];") + "// " + std::string(60'000, 'x') + "\n");
  const Proposed out = propose({good_plan, endless, good_code});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(out.mishaps, ElementsAre("coder: too long"));
  // A long parent may be changed.
  situation_.order.parent.source += "// " + std::string(60'000, 'y') + "\n";
  EXPECT_THAT(propose({good_plan, endless}).mishaps, IsEmpty());
}

TEST_F(AgentsTest, DoNotSendBackAnAnswerWithoutEnd) {
  const Proposed out =
      propose({good_plan, ListedCaller::answered(std::string(1'000'000, 'x')), good_code});
  EXPECT_EQ(out.kind, Proposed::Kind::candidate);
  EXPECT_LT(requests()[2].messages[1].text.size(), 5000U);
}

TEST_F(AgentsTest, AreRidOfRefusedOptionsByLeavingThemOut) {
  const std::string source = cuda_source("out[i] = x[i];");
  const std::string without = "// kp:compiler nvcc\n" + source.substr(source.find("#include"));
  fail_parent();
  situation_.order.parent.options = {"-O3", "-I/etc"};
  EXPECT_EQ(propose({code(without), code(without)}).kind, Proposed::Kind::nothing);
  situation_.order.parent_tried.node.rule = "build_option";
  const Proposed out = propose({code(without)});
  ASSERT_EQ(out.kind, Proposed::Kind::candidate) << out.reason;
  EXPECT_THAT(out.proposal.candidate.options, IsEmpty());
  EXPECT_THAT(propose({code("// kp:options -O3\n" + without)}).proposal.candidate.options,
              ElementsAre("-O3"));
  EXPECT_THAT(propose({code("// kp:options\n" + without)}).proposal.candidate.options, IsEmpty());
}

// The other backend, with its own language.
TEST(AgentsOnACpu, PlanAndThenWrite) {
  Situation situation;
  fill_cpu(situation);
  ListedCaller caller(
      {good_plan, ListedCaller::answered("```cpp\n// kp:options -O3 target\n" +
                                         kernelpro::testing::small_source("x[i] + y[i]") + "```")});
  const Result<Proposed> out =
      loaded(*situation.run.settings.llm).propose(situation.order, caller, std::stop_token());
  ASSERT_TRUE(out.ok());
  ASSERT_EQ(out->kind, Proposed::Kind::candidate) << out->reason;
  EXPECT_EQ(out->proposal.candidate.backend, Backend::cpu);
  EXPECT_EQ(out->proposal.candidate.compiler, "");
  EXPECT_THAT(out->proposal.candidate.options, ElementsAre("-O3", "target"));
}

}  // namespace
}  // namespace kernelpro
