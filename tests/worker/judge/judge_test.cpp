#include "worker/judge/judge.hpp"

#include <unistd.h>

#include <cstdlib>

#include "common/base/machine_lock.hpp"
#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace kernelpro::testing;

constexpr const char* rounded_to_bf16 =
    "#include <cstring>\n"
    "static float bf(float value) {\n"
    "  uint32_t bits;\n"
    "  std::memcpy(&bits, &value, sizeof bits);\n"
    "  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;\n"
    "  std::memcpy(&value, &bits, sizeof bits);\n"
    "  return value;\n"
    "}\n";

TEST_F(JudgeTest, BlamesTheBaselineAndNotTheCandidateWhenTheBaselineCrashes) {
  Task task = small_task();
  task.files["baseline.cpp"] = small_source("x[i] + y[i]", "if (n < 1000) __builtin_trap();");
  open(task);
  for (int i = 0; i < 2; ++i) {
    const Verdict verdict = verdict_on(untimed(small_source("x[i] + y[i]")));
    EXPECT_EQ(verdict.outcome, Outcome::not_judged);
    EXPECT_EQ(verdict.rule, "");
    EXPECT_THAT(verdict.summary, HasSubstr("baseline"));
  }
}

TEST_F(JudgeTest, RefusesATaskWhoseBaselineFailsAtATimedShape) {
  Task task = small_task();
  task.files["baseline.cpp"] = small_source("x[i] + y[i]", "if (n > 1000) return 3;");
  const Result<std::unique_ptr<Judge>> judge =
      Judge::open(task, *toolchain_, Ceilings(), *ground_, settings_);
  ASSERT_FALSE(judge);
  EXPECT_EQ(judge.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(judge.error().text(), StartsWith("the task's baseline: "));
}

TEST_F(JudgeTest, TimesOnWarmCachesWhenAsked) {
  settings_.warm = true;
  open(small_task());
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("x[i] + y[i]"));
  const Verdict verdict = verdict_on(request);
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_TRUE(verdict.timing.shapes.front().warm);
  EXPECT_FALSE(verdict.timing.shapes.front().flushed);
  EXPECT_EQ(verdict.timing.shapes.front().launches, 0) << "nothing traces on a CPU";
}

TEST_F(JudgeTest, LooksBrieflyWithHalfOfThePairsAndNoMore) {
  open(small_task());
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("x[i] + y[i]"));
  request.brief = true;
  const int planned = judge_->timed_shapes().front().pairs;
  const Verdict brief = verdict_on(request);
  ASSERT_EQ(brief.outcome, Outcome::passed) << brief.summary;
  EXPECT_TRUE(brief.timing.brief);
  EXPECT_EQ(std::ssize(brief.timing.shapes.front().candidate_rounds), brief_pairs(planned));
  request.brief = false;
  const Verdict full = verdict_on(request);
  EXPECT_FALSE(full.timing.brief);
  EXPECT_GE(std::ssize(full.timing.shapes.front().candidate_rounds), planned);
  EXPECT_EQ(full.checks.size(), brief.checks.size()) << "what is checked is the same";
}

TEST_F(JudgeTest, NamesTheHolderOfABusyLock) {
  // A lock of our own: nobody else shall wait for this test.
  setenv("KERNELPRO_LOCK_DIR", environment_.scratch().c_str(), 1);
  settings_.lock_timeout_ms = 30;
  open(small_task());
  const EvaluateRequest request = untimed(small_source("x[i] + y[i]"));
  EXPECT_EQ(verdict_on(request).outcome, Outcome::passed);
  const Result<MachineLock> held = MachineLock::acquire("cpu", LockMode::build, 0);
  ASSERT_TRUE(held) << held.error().text();
  const Verdict verdict = verdict_on(request);
  unsetenv("KERNELPRO_LOCK_DIR");
  EXPECT_EQ(verdict.outcome, Outcome::not_judged);
  EXPECT_THAT(verdict.summary,
              AllOf(HasSubstr("is busy with a build of process " + std::to_string(getpid())),
                    HasSubstr("waited 30 ms")));
}

TEST_F(JudgeTest, ComparesWithTheIncumbentItIsGiven) {
  open(small_task());
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("x[i] + y[i]"));
  request.incumbent = small_candidate(small_source(
      "x[i] + y[i]", "for (volatile int64_t spin = 0; spin < 20 * n; spin = spin + 1) {}"));
  request.incumbent->name = "spinner";
  const Evaluation evaluation = judge_->evaluate(request);
  ASSERT_EQ(evaluation.verdict.outcome, Outcome::passed) << evaluation.verdict.summary;
  EXPECT_EQ(evaluation.verdict.timing.comparison, Comparison::faster);
  EXPECT_THAT(evaluation.verdict.summary, HasSubstr("the incumbent"));
  EXPECT_EQ(evaluation.incumbent.name, "spinner");
  EXPECT_NE(evaluation.incumbent_build.binary_hash, evaluation.build.binary_hash);
}

// It could be slow on purpose, and fail where that would show.
TEST_F(JudgeTest, SuspectsWhoIsFasterThanAnIncumbentThatDoesNotPassItself) {
  open(small_task());
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("x[i] + y[i]"));
  request.incumbent = small_candidate(
      small_source("x[i] + y[i]",
                   "if (n <= 500) { return 1; }\n"
                   "for (volatile int64_t spin = 0; spin < 20 * n; spin = spin + 1) {}"));
  const Verdict verdict = judge_->evaluate(request).verdict;
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_TRUE(verdict.suspect);
  EXPECT_THAT(verdict.suspicions, ::testing::Contains(HasSubstr("does not pass as a candidate")));
}

TEST_F(JudgeTest, DoesNotChargeTheCandidateForAnIncumbentThatDoesNotBuild) {
  open(small_task());
  EvaluateRequest request = untimed(small_source("x[i] + y[i]"));
  request.incumbent = small_candidate("not C++");
  const Verdict verdict = verdict_on(request);
  EXPECT_EQ(verdict.outcome, Outcome::not_judged);
  EXPECT_THAT(verdict.summary, HasSubstr("the incumbent does not build"));
}

TEST_F(JudgeTest, AcceptsLowerPrecisionOnlyWhereItIsAllowedAndSaysSo) {
  open(small_task("x[i] * y[i]"));  // a sum may cancel, and then no bound holds
  EvaluateRequest request = untimed(small_source("bf(x[i]) * bf(y[i])", "", rounded_to_bf16));
  const Verdict refused = verdict_on(request);
  EXPECT_EQ(refused.outcome, Outcome::incorrect);
  EXPECT_EQ(refused.rule, "precision");
  EXPECT_THAT(refused.evidence, ::testing::Contains(HasSubstr("--allow-precision ")));

  request.allow_precision = {"bf16"};
  const Verdict accepted = verdict_on(request);
  EXPECT_EQ(accepted.outcome, Outcome::passed) << accepted.summary;
  EXPECT_EQ(accepted.precision, "bf16");

  EvaluateRequest exact = untimed(small_source("x[i] * y[i]"));
  exact.allow_precision = {"bf16"};
  EXPECT_EQ(verdict_on(exact).precision, "contract");
}

TEST_F(JudgeTest, RepeatsChecksFromTheirKeysToTheSameErrors) {
  open(small_task("x[i] * y[i] + x[i]"));
  EvaluateRequest request = untimed(small_source("x[i] * (y[i] + 1)"));
  const Evaluation first = judge_->evaluate(request);
  ASSERT_EQ(first.verdict.outcome, Outcome::passed) << first.verdict.summary;
  ASSERT_FALSE(first.verdict.checks.empty());

  request.master = first.master;
  request.repeat_checks = first.verdict.checks;
  const Verdict second = verdict_on(request);
  ASSERT_EQ(second.outcome, Outcome::passed) << second.summary;
  double largest = 0;
  for (const CheckRecord& record : first.verdict.checks) {
    EXPECT_THAT(
        second.checks,
        ::testing::Contains(AllOf(
            Field(&CheckRecord::stage, record.stage), Field(&CheckRecord::key, record.key),
            Field(&CheckRecord::shape, record.shape), Field(&CheckRecord::error, record.error),
            Field(&CheckRecord::baseline_error, record.baseline_error))))
        << name_of(record.stage) << " " << record.distribution;
    largest = std::max(largest, record.error);
  }
  EXPECT_GT(largest, 0) << "errors of nothing but zero would agree whatever is drawn";
}

TEST_F(JudgeTest, DrawsOtherInputsForEveryEvaluationWithoutAMaster) {
  open(small_task());
  const EvaluateRequest request = untimed(small_source("x[i] + y[i]"));
  const Evaluation first = judge_->evaluate(request);
  const Evaluation second = judge_->evaluate(request);
  EXPECT_FALSE(first.master == second.master);
  EXPECT_FALSE(first.verdict.checks.at(0).key == second.verdict.checks.at(0).key);
}

TEST_F(JudgeTest, AsksForEqualBitsOnlyWhereTheTaskIsDeterministic) {
  // Another last bit in every second call, as sums in another order would have.
  const std::string wavering =
      small_source("calls % 2 == 0 ? x[i] + y[i] : std::nextafter(x[i] + y[i], 1e30f)", "++calls;",
                   "#include <cmath>\nstatic int calls;\n");
  const std::string atomic = small_source("x[i] + y[i]", "calls.fetch_add(1);",
                                          "#include <atomic>\nstatic std::atomic<int> calls;\n");
  open(small_task());
  EXPECT_EQ(verdict_on(untimed(wavering)).outcome, Outcome::passed);

  Task deterministic = small_task();
  deterministic.tolerance.deterministic = true;
  open(deterministic);
  const Verdict verdict = verdict_on(untimed(wavering));
  EXPECT_EQ(verdict.outcome, Outcome::unstable);
  EXPECT_EQ(verdict.rule, "deterministic");
  EXPECT_THAT(verdict.summary, HasSubstr("out differs between calls with the same inputs"));
  EXPECT_EQ(verdict_on(untimed(atomic)).outcome, Outcome::passed);
}

TEST_F(JudgeTest, AsksForEqualBitsInTimedCallsToo) {
  // Another last bit in another element of every call, after the few calls of the checks.
  std::string wavering =
      small_source("x[i] + y[i]", "", "#include <cmath>\nstatic int64_t calls;\n");
  wavering.insert(
      wavering.rfind("  return 0;"),
      "if (++calls > 20) { out[calls % n] = std::nextafter(out[calls % n], 1e30f); }\n");
  Task deterministic = small_task();
  deterministic.tolerance.deterministic = true;
  open(deterministic);
  EvaluateRequest request;
  request.candidate = small_candidate(wavering);
  const Verdict verdict = verdict_on(request);
  EXPECT_EQ(verdict.outcome, Outcome::unstable);
  EXPECT_EQ(verdict.rule, "deterministic");
  EXPECT_EQ(verdict.stage, Stage::timing);
}

TEST_F(JudgeTest, NamesTheFirstStageThatFailedAndTheWrongElement) {
  open(small_task());
  const Verdict verdict =
      verdict_on(untimed(small_source("n > 1000 && i == 1234 ? 5.f : x[i] + y[i]")));
  EXPECT_EQ(verdict.outcome, Outcome::incorrect);
  EXPECT_EQ(verdict.stage, Stage::timed_shapes);
  EXPECT_THAT(verdict.summary, StartsWith("out[1234] is 5, expected "));
}

TEST_F(JudgeTest, RefusesATaskThatDoesNotValidate) {
  Task task = small_task();
  task.reference.file = "missing.hpp";
  const Result<std::unique_ptr<Judge>> judge =
      Judge::open(task, *toolchain_, Ceilings(), *ground_, settings_);
  ASSERT_FALSE(judge);
  EXPECT_EQ(judge.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(judge.error().text(), HasSubstr("missing.hpp"));
}

}  // namespace
}  // namespace kernelpro
