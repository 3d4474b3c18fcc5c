// Tasks without a reference: what the baseline computes is right.
#include "worker/judge/fixture.hpp"
#include "worker/judge/lint.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using namespace kernelpro::testing;

Task trusting_task(const std::string& expression) {
  Task task = small_task(expression);
  task.reference = {};
  task.reference.baseline = true;
  task.files.erase("reference.hpp");
  return task;
}

TEST_F(JudgeTest, HoldsCandidatesAgainstTheBaselineWhereThatIsTheTruth) {
  open(trusting_task("x[i] * 3 + y[i]"));
  EXPECT_EQ(verdict_on(untimed(small_source("y[i] + 3 * x[i]"))).outcome, Outcome::passed);
  const Verdict other = verdict_on(untimed(small_source("x[i] * 3.001f + y[i]")));
  EXPECT_EQ(other.outcome, Outcome::incorrect);
  EXPECT_THAT(other.summary, HasSubstr("expected"));
  EXPECT_EQ(verdict_on(untimed(small_source("0"))).outcome, Outcome::incorrect);
  const Verdict short_one = verdict_on(untimed(small_source("i + 1 < n ? x[i] * 3 + y[i] : 0")));
  EXPECT_EQ(short_one.outcome, Outcome::incorrect);
}

TEST_F(JudgeTest, TimesCandidatesOfSuchATask) {
  open(trusting_task("x[i] * 3 + y[i]"));
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("y[i] + 3 * x[i]"));
  const Verdict verdict = verdict_on(request);
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_EQ(verdict.timing.shapes.size(), 1U);
}

TEST_F(JudgeTest, HoldsWholeNumbersAgainstTheBaselineBitByBit) {
  Task task = trusting_task("x[i] + y[i]");
  for (TensorSpec* tensor : {&task.inputs[0], &task.inputs[1], &task.outputs[0]}) {
    tensor->dtype = DType::i32;
  }
  for (TensorSpec& input : task.inputs) {
    input.values.kind = ValueKind::index;
    input.values.bound = formula("1000");
  }
  const auto whole = [](const std::string& expression) {
    std::string source = small_source(expression);
    for (std::size_t at = source.find("float"); at != std::string::npos;
         at = source.find("float", at)) {
      source.replace(at, 5, "int32_t");
    }
    return source;
  };
  task.files["baseline.cpp"] = whole("x[i] + y[i]");
  open(task);
  EXPECT_EQ(verdict_on(untimed(whole("y[i] + x[i]"))).outcome, Outcome::passed);
  EXPECT_EQ(verdict_on(untimed(whole("x[i] + y[i] + (i == n / 2)"))).outcome, Outcome::incorrect);
}

TEST_F(JudgeTest, FindsBrokenVariantsOfSuchATask) {
  open(trusting_task("x[i] * 3 + y[i]"));
  const Result<std::vector<LintFinding>> findings = lint_task(*judge_, *toolchain_);
  ASSERT_TRUE(findings) << findings.error().text();
  int broken = 0;
  for (const LintFinding& finding : *findings) {
    EXPECT_NE(finding.level, LintLevel::error) << finding.rule << ": " << finding.text;
    broken += finding.rule == "broken" ? 1 : 0;
  }
  EXPECT_GE(broken, 3);
}

TEST_F(JudgeTest, AsksWhetherAnOutputIsReadWhenTheBaselineLeavesNothingFinite) {
  open(trusting_task("out[i] + x[i]"));
  const Verdict verdict = verdict_on(untimed(small_source("out[i] + x[i]")));
  EXPECT_EQ(verdict.outcome, Outcome::not_judged);
  EXPECT_THAT(verdict.summary,
              HasSubstr("it leaves no finite number in out, so nothing can be held against it; is "
                        "out read as well as written (`task new --inout out`)?"));
  const Result<std::vector<LintFinding>> findings = lint_trivial(*judge_);
  ASSERT_FALSE(findings);
  EXPECT_THAT(findings.error().text(), HasSubstr("--inout out"));
}

}  // namespace
}  // namespace kernelpro
