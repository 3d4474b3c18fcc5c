// What is sent, word for word.
#include "coordinator/propose/agents/render.hpp"

#include "coordinator/llm/token_count.hpp"
#include "coordinator/propose/agents/rendering.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::agent_tests;
using kernelpro::testing::cuda_source;
using kernelpro::testing::example_plan;
using kernelpro::testing::expect_golden;
using kernelpro::testing::file_text;
using kernelpro::testing::fill_cpu;
using kernelpro::testing::fill_cuda;
using kernelpro::testing::fill_failed;
using kernelpro::testing::fill_torch;
using kernelpro::testing::installed;
using kernelpro::testing::plenty;
using kernelpro::testing::rendered;
using kernelpro::testing::Situation;
using kernelpro::testing::tried_failed;
using kernelpro::testing::tried_passed;
using kernelpro::testing::whole;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

TEST(Prompt, OfThePlannerOnACpu) {
  Situation situation;
  fill_cpu(situation);
  expect_golden("planner_cpu", whole(rendered(situation, LlmRole::planner)));
}

TEST(Prompt, OfThePlannerOnAGpuWithFindings) {
  Situation situation;
  fill_cuda(situation);
  expect_golden("planner_cuda", whole(rendered(situation, LlmRole::planner)));
}

TEST(Prompt, OfTheCoder) {
  Situation situation;
  fill_cuda(situation);
  expect_golden("coder_cuda", whole(rendered(situation, LlmRole::coder)));
}

TEST(Prompt, OfTheCoderWithCodeToLearnFrom) {
  Situation situation;
  fill_cuda(situation);
  const PromptSet prompts = installed();
  const Plan plan = example_plan();
  const Scene scene{
      &situation.order,
      &prompts,
      &plan,
      nullptr,
      {{.file = "lib/copy.cuh", .first = 3, .last = 4, .text = "float4 a;\nfloat4 b;\n"},
       {.file = "lib/tail.h", .first = 7, .last = 7, .text = "int tail;\n"}},
      ""};
  const Result<Rendered> out = render(prompts.roles.at(LlmRole::coder), scene, plenty);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->code, 2U);
  expect_golden("coder_code", out->user + "\n");
}

TEST(Prompt, OfPlannerAndCoderWithLessonsOfOtherRuns) {
  Situation situation;
  fill_cuda(situation);
  Tally mixed;
  mixed.add_gain(0.9);
  mixed.add_gain(0.5);
  mixed.add_failure(Outcome::incorrect);
  Tally lost;
  lost.add_gain(-0.2);
  Tally failed;
  failed.add_failure(Outcome::build_failed);
  failed.add_failure(Outcome::crashed);
  situation.order.lessons = {{example_plan().move, mixed, 3},
                             {"unroll", Tally{.tried = 4, .spread = 0.01}, 2},
                             {"prefetch", lost, 1},
                             {"tma_pipeline", failed, 0.5}};
  situation.order.facts = {"there is no header cute/extra.hpp here"};
  const PromptSet prompts = installed();
  const Scene unplanned{&situation.order, &prompts, nullptr, nullptr};
  const Result<Rendered> planner = render(prompts.roles.at(LlmRole::planner), unplanned, plenty);
  ASSERT_TRUE(planner.ok()) << planner.error().text();
  expect_golden("planner_lessons", planner->user + "\n");
  expect_golden("coder_lessons", rendered(situation, LlmRole::coder).user + "\n");
}

TEST(Prompt, OfTheReviewer) {
  Situation situation;
  fill_cuda(situation);
  expect_golden("reviewer_cuda", whole(rendered(situation, LlmRole::reviewer)));
}

TEST(Prompt, OfTheFixerAfterABuildThatFailed) {
  Situation situation;
  fill_failed(situation,
              tried_failed(7, 3, "vector_loads", Outcome::build_failed, "", "it does not compile",
                           {file_text(agent_tests / "compiler_texts" / "nvcc_launch.txt")}),
              file_text(agent_tests / "compiler_texts" / "launch.cu.txt"));
  expect_golden("fixer_build", whole(rendered(situation, LlmRole::fixer)));
}

TEST(Prompt, OfTheFixerAfterAWrongResult) {
  Situation situation;
  Tried failed =
      tried_failed(7, 3, "vector_loads", Outcome::incorrect, "", "out[256] is 0, expected 1.5",
                   {"largest error 1.2 at out[256], bound 9.5e-07",
                    "at n=257, normal values, seed 0x0123456789abcdef"});
  failed.verdict->stage = Stage::distributions;
  failed.verdict->checks = {kernelpro::testing::example_check("normal", 1.2, 9.5e-7)};
  failed.verdict->checks.front().baseline_error = 1e-7;
  fill_failed(situation, std::move(failed), cuda_source("out[i] = x[i];"));
  expect_golden("fixer_wrong", rendered(situation, LlmRole::fixer).user + "\n");
}

TEST(Prompt, WhereThereIsNoKernelYet) {
  Situation situation;
  fill_torch(situation);
  expect_golden("planner_torch", whole(rendered(situation, LlmRole::planner)));
  expect_golden("coder_torch", rendered(situation, LlmRole::coder).user + "\n");
}

// All parameters in one tensor.
TEST(Prompt, OfAWholeNetworkSaysWhereEachParameterBegins) {
  Situation situation;
  fill_torch(situation);
  TensorSpec& packed = situation.run.task.inputs[1];
  packed.name = "parameters";
  packed.parts = {"0 conv.weight [4, 3, 3, 3]", "128 conv.bias [4]", "192 norm.mean [4] buffer"};
  situation.order.parent_tried.verdict->timing.shapes[0].launches = 7;
  situation.order.parent_tried.verdict->timing.shapes[0].gpu_ns = 9000;
  situation.order.all = {situation.order.parent_tried};
  expect_golden("planner_network", whole(rendered(situation, LlmRole::planner)));
  packed.parts.resize(2000, "1 x [1]");
  EXPECT_THAT(rendered(situation, LlmRole::planner, 200'000).system,
              HasSubstr("(1000 more are left out)"));
}

TEST(Prompt, WhatTheCompilerSaysOfSpeedIsShownWithTheParent) {
  Situation situation;
  fill_cuda(situation);
  situation.order.parent_warnings = {
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized"};
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              HasSubstr("- ptxas info : (C7511) Potential Performance Loss"));
}

TEST(Prompt, ShowsTheExampleOfThePlannedMoveWhereThereIsRoom) {
  Situation situation;
  fill_cuda(situation);
  const auto planned = std::ranges::find(situation.order.moves, "vector_loads", &Move::id);
  ASSERT_NE(planned, situation.order.moves.end());
  planned->example_source = "int shown_example;\n" + std::string(40'000, '/') + "\n";
  EXPECT_THAT(rendered(situation, LlmRole::coder, 48'000).user, HasSubstr("int shown_example;"));
  EXPECT_THAT(rendered(situation, LlmRole::planner, 48'000).user,
              Not(HasSubstr("int shown_example;")));
  EXPECT_THAT(rendered(situation, LlmRole::coder, 10'000).user,
              AllOf(Not(HasSubstr("int shown_example;")), HasSubstr("About the move")));
}

TEST(Prompt, NamesTheLibrariesThatMayBeIncluded) {
  Situation situation;
  fill_cuda(situation);
  situation.run.settings.judging.includes = {{"cutlass", "/some/folder", "", "7107b05"}};
  const std::string text = rendered(situation, LlmRole::coder).system;
  EXPECT_THAT(text, AllOf(HasSubstr("may be included too, as with -I: cutlass (commit 7107b05)."),
                          Not(HasSubstr("/some/folder"))));
}

TEST(Prompt, ShowsAPyTorchModuleOnce) {
  Situation situation;
  fill_torch(situation);
  const std::string text = whole(rendered(situation, LlmRole::coder));
  const std::size_t first = text.find("class Model");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("class Model", first + 1), std::string::npos);
}

TEST(Prompt, WithoutFeedbackHasTimesAlone) {
  Situation situation;
  fill_cuda(situation);
  situation.run.settings.feedback = Feedback::none;
  const std::string text = rendered(situation, LlmRole::planner).user;
  expect_golden("feedback_none", text + "\n");
  EXPECT_THAT(text, AllOf(HasSubstr("5.2 us"), Not(HasSubstr("latency")),
                          Not(HasSubstr("narrow_loads")), Not(HasSubstr("registers"))));
}

TEST(Prompt, WithRawFeedbackHasFiguresWithoutAdvice) {
  Situation situation;
  fill_cuda(situation);
  situation.run.settings.feedback = Feedback::raw;
  const std::string text = rendered(situation, LlmRole::planner).user;
  expect_golden("feedback_raw", text + "\n");
  EXPECT_THAT(text, AllOf(HasSubstr("| narrow_loads of add | 32 bits |"),
                          Not(HasSubstr("Class of the bottleneck")), Not(HasSubstr("Cause:")),
                          Not(HasSubstr("predicted gain"))));
}

TEST(Prompt, OffersAToolInThePlaceOfFindings) {
  Situation situation;
  fill_cuda(situation);
  situation.run.settings.llm->tools = ToolUse::reactive;
  const std::string text = rendered(situation, LlmRole::planner).user;
  expect_golden("reactive", text + "\n");
  EXPECT_THAT(text, AllOf(HasSubstr("look_at_profile"), Not(HasSubstr("Each thread moves"))));
}

// The system part is cached by providers: it may not change within a run.
TEST(Prompt, HasTheSameSystemPartForAllCallsOfARole) {
  Situation first;
  fill_cuda(first);
  Situation second;
  fill_failed(second, tried_failed(7, 3, "tile", Outcome::incorrect, "", "out[0] is 1, expected 2"),
              cuda_source("out[i] = 1;"));
  for (const LlmRole role : llm_roles()) {
    EXPECT_EQ(rendered(first, role).system, rendered(second, role).system) << name_of(role);
  }
}

// A branch of 30, 30 siblings and much to remember.
void lengthen(Situation& situation) {
  AgentOrder& order = situation.order;
  const std::string long_plan(300, 'p');
  NodeId id = 100;
  for (int i = 0; i < 30; ++i) {
    order.branch.push_back(tried_passed(id++, 0, "branch_" + std::to_string(i), 1.1 + 0.01 * i));
    order.branch.back().node.plan = long_plan;
    order.siblings.push_back(tried_passed(id++, 3, "sibling_" + std::to_string(i), 1.2));
    order.siblings.back().node.plan = long_plan;
    order.all.push_back(order.siblings.back());
  }
}

TEST(Prompt, ThatIsTooLongLosesItsOldestHistoryFirst) {
  Situation situation;
  fill_cuda(situation);
  lengthen(situation);
  const Rendered all = rendered(situation, LlmRole::planner);
  const std::int64_t full = about_tokens(all.system) + about_tokens(all.user);
  const Rendered less = rendered(situation, LlmRole::planner, full - 500);
  EXPECT_THAT(about_tokens(less.system) + about_tokens(less.user), Le(full - 500));
  EXPECT_EQ(less.system, all.system);
  EXPECT_THAT(less.user, AllOf(HasSubstr("earlier left out)"), Not(HasSubstr("branch_0`")),
                               HasSubstr("branch_29`"), HasSubstr("sibling_0`")));
  expect_golden("bounded", less.user + "\n");
}

TEST(Prompt, LosesSiblingsThenMemoryThenFindingsThenMoves) {
  Situation situation;
  fill_cuda(situation);
  lengthen(situation);
  std::string before = rendered(situation, LlmRole::planner).user;
  const std::vector<std::string> marks = {"branch_29`",
                                          "sibling_29`",
                                          "the move sibling_29 lost",
                                          "Registers limit the resident warps",
                                          "Let each thread load and store float4",
                                          "`vector_loads`:"};
  std::vector<std::int64_t> gone(marks.size(), 0);
  const std::int64_t system = about_tokens(rendered(situation, LlmRole::planner).system);
  const PromptSet prompts = installed();
  const Scene scene{&situation.order, &prompts, nullptr, nullptr};
  for (std::int64_t most = system + about_tokens(before); most > 0; most -= 400) {
    const Result<Rendered> out = render(prompts.roles.at(LlmRole::planner), scene, most);
    if (!out) {
      EXPECT_THAT(out.error().text(),
                  ContainsRegex("the planner of node 9: its prompt would have about [0-9]+ tokens "
                                "with everything left out that may be, and [0-9]+ are allowed; the "
                                "sections have: contract [0-9]+, .*Raise --prompt-tokens"));
      break;
    }
    EXPECT_THAT(out->user, AllOf(HasSubstr("__global__ void add"),
                                 HasSubstr("Each thread moves 4 bytes at a time")));
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (gone[i] == 0 && out->user.find(marks[i]) == std::string::npos) {
        gone[i] = most;
      }
    }
  }
  for (std::size_t i = 1; i < marks.size(); ++i) {
    EXPECT_GT(gone[i], 0) << marks[i];
    EXPECT_LE(gone[i], gone[i - 1]) << marks[i];
  }
}

TEST(Prompt, CutsALongReferenceAndNothingElseOfItsSystemPart) {
  Situation situation;
  fill_cuda(situation);
  std::string& reference = situation.run.task.files["reference.hpp"];
  reference += std::string(100'000, '/');
  const Rendered text = rendered(situation, LlmRole::planner, 12'000);
  EXPECT_THAT(about_tokens(text.system), Le(6000));
  EXPECT_THAT(text.system, AllOf(HasSubstr("(the rest is left out: it is too long)"),
                                 HasSubstr("inline void small("), HasSubstr("Tolerance: e = max"),
                                 HasSubstr("int kp_launch(const kp_context* context")));
}

TEST(Prompt, TellsThoseWhoAreAskedAtTheSameTimeOfEachOther) {
  Situation situation;
  fill_cuda(situation);
  EXPECT_THAT(rendered(situation, LlmRole::planner).user, Not(HasSubstr("Under way")));
  situation.order.under_way = 1;
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              AllOf(HasSubstr("## Already tried from this parent"),
                    HasSubstr("## Under way from this parent\n\n1 other step from this parent is "
                              "under way"),
                    HasSubstr("count on the first idea that comes to mind to be taken")));
  Node sweep;
  sweep.id = 8;
  sweep.move = "tune";
  sweep.plan = "The tuner's choice: BLOCK = 64";
  situation.order.planned = {sweep};
  EXPECT_THAT(
      rendered(situation, LlmRole::planner).user,
      AllOf(HasSubstr("not known yet.\n\n- node 8, `tune`: The tuner's choice: BLOCK = 64."),
            Not(HasSubstr("comes to mind"))));
  situation.order.planned.clear();
  situation.order.siblings.clear();
  situation.order.under_way = 3;
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              AllOf(Not(HasSubstr("Already tried")),
                    HasSubstr("3 other steps from this parent are under way"),
                    HasSubstr("the first 3 ideas that come to mind")));
}

TEST(Prompt, SaysThatAResultIsSuspectAndWhy) {
  Situation situation;
  fill_cuda(situation);
  situation.order.parent_tried.node.suspect = true;
  situation.order.parent_tried.verdict->suspicions = {"the machine was busy"};
  situation.order.siblings[0].node.suspect = true;
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              AllOf(HasSubstr("The judge calls that suspect: the machine was busy; as such it "
                              "cannot be the best."),
                    HasSubstr("over the baseline, which the judge calls suspect.")));
  situation.run.settings.accept_suspect = true;
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              AllOf(HasSubstr("The judge calls that suspect: the machine was busy.\n"),
                    Not(HasSubstr("cannot be the best"))));
}

TEST(Prompt, NamesTheMostPromisingMovesAlone) {
  Situation situation;
  fill_cuda(situation);
  Move move = situation.order.moves[0];
  for (int i = 0; i < 30; ++i) {
    move.id = "idea_" + std::to_string(i);
    move.gain = 1.01 + 0.1 * i;
    situation.order.moves.push_back(move);
  }
  const std::string text = rendered(situation, LlmRole::planner).user;
  EXPECT_THAT(text, AllOf(HasSubstr("`idea_29`:"), Not(HasSubstr("`idea_3`:")),
                          HasSubstr("(16 that promise less are left out)")));
}

TEST(Prompt, ShowsTheBuildInForceInTheSource) {
  Situation situation;
  fill_cuda(situation);
  const std::string text = rendered(situation, LlmRole::planner).user;
  EXPECT_THAT(text, HasSubstr("// kp:options -O3 -use_fast_math\n#include"));
}

TEST(Prompt, ShowsWhatIsUsedOfHeadersOnceAndKeepsTheirDirectives) {
  Situation situation;
  fill_cuda(situation);
  const std::string pasted =
      "// kp:include begin own.h #include \"own.h\"\nint needed_one();\nint another();\n"
      "// kp:include end own.h\nint mine = needed_one();\n";
  situation.order.parent.source = pasted;
  Task& task = situation.run.task;
  ImplementationSpec baseline;
  baseline.backend = Backend::cuda;
  baseline.file = "own.cu";
  task.baselines = {baseline};
  task.files["own.cu"] = pasted;
  const Rendered text = rendered(situation, LlmRole::coder);
  EXPECT_THAT(text.user,
              AllOf(HasSubstr("#include \"own.h\"\nint mine"), Not(HasSubstr("another"))));
  EXPECT_THAT(text.system, AllOf(HasSubstr("int needed_one();"), Not(HasSubstr("int another"))));
}

TEST(Prompt, SurvivesASourceWithFencesInIt) {
  Situation situation;
  fill_cuda(situation);
  situation.order.parent.source += "// ```\n";
  EXPECT_THAT(rendered(situation, LlmRole::planner).user, HasSubstr("\n````cuda\n// kp:compiler"));
}

}  // namespace
}  // namespace kernelpro::agents
