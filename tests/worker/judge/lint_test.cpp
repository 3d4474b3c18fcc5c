#include "worker/judge/lint.hpp"

#include "coordinator/task/load.hpp"
#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace kernelpro::testing;

class Lint : public JudgeTest {
 protected:
  std::vector<LintFinding> trivial(const Task& task) {
    open(task);
    const Result<std::vector<LintFinding>> findings = lint_trivial(*judge_);
    EXPECT_TRUE(findings) << findings.error().text();
    return findings ? *findings : std::vector<LintFinding>();
  }

  // The errors of the whole lint.
  std::vector<LintFinding> errors(const Task& task) {
    open(task);
    Result<std::vector<LintFinding>> findings = lint_task(*judge_, *toolchain_);
    EXPECT_TRUE(findings) << findings.error().text();
    std::erase_if(*findings,
                  [](const LintFinding& finding) { return finding.level != LintLevel::error; });
    return std::move(*findings);
  }

  std::vector<std::string> rules(const std::vector<LintFinding>& findings) {
    std::vector<std::string> out;
    for (const LintFinding& finding : findings) {
      out.push_back(finding.rule);
    }
    return out;
  }

  static Task bundled(const std::string& name) {
    Result<Task> task = load_task(std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tasks" / name);
    EXPECT_TRUE(task) << task.error().text();
    return std::move(*task);
  }
};

auto error_of(const std::string& rule, const std::string& text) {
  return AllOf(Field(&LintFinding::level, LintLevel::error), Field(&LintFinding::rule, rule),
               Field(&LintFinding::text, HasSubstr(text)));
}

TEST_F(Lint, ProposesTheSizesAtWhichTheReferenceDoesNotCrash) {
  Task task = small_task("x[i] + y[i] / (n < 3 ? __builtin_trap(), 1 : 1)");
  task.held_out["n"] = {1, 40};
  EXPECT_THAT(errors(task),
              AllOf(Contains(error_of("held_out", "fails at n=1")),
                    Contains(error_of("held_out", "set held_out = { n = [3, 40] }"))));
}

TEST_F(Lint, RefusesATaskThatZerosWouldSolve) {
  EXPECT_THAT(trivial(small_task("x[i] * y[i] * 0")),
              Contains(error_of("zeros", "outputs of nothing but zeros would pass")));
}

TEST_F(Lint, RefusesATaskThatAConstantWouldSolve) {
  EXPECT_THAT(rules(trivial(small_task("x[i] * y[i] * 0 + 3"))), ElementsAre("constant"));
}

TEST_F(Lint, RefusesATaskThatAnInputPassedThroughWouldSolve) {
  EXPECT_THAT(trivial(small_task("x[i] * 0 + y[i]")),
              ElementsAre(error_of("pass_through", "input y passed through")));
}

TEST_F(Lint, FindsNothingTrivialInATaskWithTinyOutputs) {
  EXPECT_THAT(trivial(small_task("x[i] * y[i] * 0x1p-60f")), IsEmpty());
}

TEST_F(Lint, RefusesATaskWithAnInputThatChangesNothing) {
  Task task = small_task("x[i] * x[i]");
  EXPECT_THAT(errors(task), Contains(error_of("no_effect", "other values of input y")));
}

TEST_F(Lint, RefusesOperationsAndBytesThatAreNotThere) {
  Task task = small_task();
  task.work.flops = formula("3*n");
  task.work.bytes = formula("50*n");
  const std::vector<LintFinding> found = errors(task);
  EXPECT_THAT(found, Contains(error_of("flops",
                                       "work.flops says 750 at n=250, the reference does "
                                       "250 operations")));
  EXPECT_THAT(found, Contains(error_of("bytes",
                                       "work.bytes says 1000000 at n=20000, but all "
                                       "tensors together hold 240000")));
  EXPECT_EQ(found.size(), 2U) << ::testing::PrintToString(rules(found));
}

TEST_F(Lint, RefusesAToleranceThatBrokenVariantsPass) {
  Task task = small_task();
  task.tolerance.rounding_factor = 1e6;
  EXPECT_THAT(rules(errors(task)), Contains("broken"));
}

TEST_F(Lint, TriesVariantsOfEachCpuBaselineAndOfNoOther) {
  Task task = small_task("x[i] * y[i]");
  task.files["second.cpp"] = small_source("x[i] * y[i] * 1.01F");
  task.baselines.push_back(task.baselines.front());
  task.baselines.back().name = "second";
  task.baselines.back().file = "second.cpp";
  task.baselines.push_back(task.baselines.front());
  task.baselines.back().name = "third";
  task.baselines.back().backend = Backend::cuda;
  open(task);
  const Result<std::vector<LintFinding>> findings = lint_task(*judge_, *toolchain_);
  ASSERT_TRUE(findings) << findings.error().text();
  EXPECT_THAT(*findings,
              AllOf(Contains(error_of("honest", "an honest variant does not pass: second: ")),
                    Contains(Field(&LintFinding::text, HasSubstr("naive: one element wrong: "))),
                    Contains(Field(&LintFinding::text, HasSubstr("second: one element wrong: "))),
                    Not(Contains(Field(&LintFinding::text, HasSubstr("third"))))));
}

TEST_F(Lint, FindsNoErrorInTheBundledSpmv) {
  EXPECT_THAT(rules(errors(bundled("spmv"))), IsEmpty());
}

TEST_F(Lint, FindsNoErrorInTheBundledKmeansAssign) {
  EXPECT_THAT(rules(errors(bundled("kmeans_assign"))), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
