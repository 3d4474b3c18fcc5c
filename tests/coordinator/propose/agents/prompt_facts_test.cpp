// That prompts say what holds for the task at hand, and nothing that has no meaning for it.
#include "coordinator/propose/agents/rendering.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::fill_cuda;
using kernelpro::testing::fill_torch;
using kernelpro::testing::formula;
using kernelpro::testing::rendered;
using kernelpro::testing::Situation;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// 2 Gflop of products: tf32 takes 15 us, the traffic 30 us once there is more of it.
TEST(PromptFacts, HasTheRoofOfSplitProductsWhereProductsTakeTheTime) {
  Situation situation;
  fill_torch(situation);
  EXPECT_THAT(rendered(situation, LlmRole::planner).user, Not(HasSubstr("split for the tensor")));
  situation.run.task.work.flops = formula("2000000100");
  situation.run.task.reference.products = 2e9;
  ShapeTiming& shape = situation.order.parent_tried.verdict->timing.shapes[0];
  shape.bound_ns = 40'000;
  shape.bound_by = "compute";
  situation.order.ceilings.list.push_back({"tensor_f16", "GFLOP/s", 0, 800'000, 0, 0});
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              HasSubstr("\n- its own size: 15.19 us as 3 of tf32, 7.5 us as 3 of f16\n"));
  situation.run.task.work.bytes = formula("129600000");
  EXPECT_THAT(rendered(situation, LlmRole::planner).user,
              HasSubstr("\n- its own size: 30 us as 3 of tf32, 30 us as 3 of f16\n"));
}

TEST(PromptFacts, LeavesOutWhatHasNoMeaningForTheTask) {
  Situation fixed;
  fill_torch(fixed);
  Situation varied;
  fill_cuda(varied);
  for (const LlmRole role : llm_roles()) {
    const std::string at_fixed = rendered(fixed, role).system;
    EXPECT_THAT(at_fixed,
                AllOf(HasSubstr("sizes may be hard-coded"), HasSubstr("kp_prepare** are left out"),
                      Not(HasSubstr("odd sizes")), Not(HasSubstr("shapes that are drawn anew")),
                      Not(HasSubstr("timed shapes")), Not(HasSubstr("training mode")),
                      Not(HasSubstr("16-bit"))))
        << name_of(role);
    EXPECT_THAT(rendered(varied, role).system,
                AllOf(HasSubstr("Any shape of the ranges"), Not(HasSubstr("hard-coded, and"))))
        << name_of(role);
  }
  varied.run.task.inputs[0].constant = true;
  varied.run.task.inputs[0].dtype = DType::f16;
  EXPECT_THAT(rendered(varied, LlmRole::coder).system,
              AllOf(HasSubstr("fills `context->state` from inputs"), HasSubstr("16-bit")));
}

TEST(PromptFacts, SaysOfANormalizationOverTheBatchWhatItReads) {
  Situation situation;
  fill_torch(situation);
  situation.run.task.files["problem.py"] = "self.norm = nn.BatchNorm2d(8)";
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              HasSubstr("uses the statistics of its batch, and its running ones are neither read"));
}

TEST(PromptFacts, SaysWhichAxesHaveOneSizeOnly) {
  Situation situation;
  fill_cuda(situation);
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              HasSubstr("No extent that depends on them may be hard-coded.\n"));
  situation.run.task.held_out["n"] = {20'000, 20'000, 1};
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              HasSubstr("may be hard-coded, but for n = 20000.\n"));
}

TEST(PromptFacts, SaysWhatWasSeenOfAModule) {
  Situation situation;
  fill_torch(situation);
  ReferenceSpec& reference = situation.run.task.reference;
  reference.products = 2048;
  reference.runs = {"operator addmm: 1 call, 25 % of the operations"};
  reference.without_effect.assign(20, "norm.running_mean");
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              AllOf(HasSubstr("Work: 8192 floating-point operations, 25 % of them in sums of "
                              "products, and at least 66048 bytes"),
                    HasSubstr("What PyTorch runs for a call:\n\n- operator addmm: 1 call, 25 %"),
                    HasSubstr("need not be read: norm.running_mean, "),
                    HasSubstr("norm.running_mean and 4 more.\n")));
  situation.run.task.work.flops = formula("0");
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              HasSubstr("Work: no floating-point operation, values are only moved, and"));
}

TEST(PromptFacts, HasErrorAndBoundOfOneCheckForEachKindOfInputs) {
  using kernelpro::testing::example_check;
  Situation situation;
  fill_cuda(situation);
  CheckRecord timed = example_check("normal", 4.8e-6, 1.9e-5);
  timed.stage = Stage::timed_shapes;
  timed.shape = {{"n", 20'000}};
  situation.order.all[0].verdict->checks = {timed, example_check("normal", 2e-7, 9e-7),
                                            example_check("normal", 1e-7, 4e-7),
                                            example_check("tiny", 1e-7, 5e-7)};
  EXPECT_THAT(rendered(situation, LlmRole::coder).system,
              HasSubstr("| normal at n=20000 | 4.8e-06 | 1.9e-05 |\n| normal | 1e-07 | 4e-07 |\n"
                        "| tiny | 1e-07 | 5e-07 |\n\nThe inputs: `normal` as the table of tensors "
                        "says; `tiny` normal over 2^12 (2^4 in f16).\n"));
}

TEST(PromptFacts, KnowsWhatCodeForHopperNeeds) {
  Situation situation;
  fill_torch(situation);
  const auto text = [&situation] { return rendered(situation, LlmRole::coder).system; };
  EXPECT_THAT(text(), AllOf(HasSubstr("cudaOccupancyMaxActiveClusters"), Not(HasSubstr("wgmma"))));
  situation.run.task.reference.products = 1e9;
  EXPECT_THAT(text(), HasSubstr("bits 0-13 the start"));
  situation.order.machine.gpus[0].architecture = "80";
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("wgmma")), Not(HasSubstr("sm_90"))));
}

TEST(PromptFacts, OfAFirstKernelIsOneOfItsOwn) {
  Situation situation;
  fill_torch(situation);
  EXPECT_THAT(rendered(situation, LlmRole::planner).system,
              AllOf(HasSubstr("a good plan for a first candidate"),
                    Not(HasSubstr("**One** change")), Not(HasSubstr("Layer by layer"))));
  EXPECT_THAT(rendered(situation, LlmRole::coder).system,
              AllOf(HasSubstr("All of the module's work"), Not(HasSubstr("good in the parent"))));
  situation.order.parent.compiler = "nvcc";
  EXPECT_THAT(rendered(situation, LlmRole::planner).system, HasSubstr("**One** change"));
}

}  // namespace
}  // namespace kernelpro::agents
