// Where the task itself is ill-conditioned: a norm whose variance is zero.
#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;

// out = (x - mean) / sqrt(variance + eps) + y over all of x, with `sum` as its way to add up. On
// constant inputs nothing is left of x - mean but the rounding of the mean, times 300.
std::string norm_source(const std::string& sum, const std::string& result = "normed + y[i]") {
  return small_source(result,
                      "const float mean = sum(n, [=](int64_t i) { return x[i]; }) / n;\n"
                      "const float variance = sum(n, [=](int64_t i) {\n"
                      "  return (x[i] - mean) * (x[i] - mean); }) / n;\n"
                      "const float scale = 1 / std::sqrt(variance + 1e-5f);\n"
                      "#define normed ((x[i] - mean) * scale)\n",
                      "#include <cmath>\ntemplate <typename Term>\n"
                      "static float sum(int64_t n, Term term) {\n" +
                          sum + "}\n");
}

const std::string in_order = norm_source(
    "  float all = 0;\n"
    "  for (int64_t i = 0; i < n; ++i) { all += term(i); }\n"
    "  return all;\n");

const std::string in_lanes =
    "  float lanes[32] = {};\n"
    "  for (int64_t i = 0; i < n; ++i) { lanes[i % 32] += term(i); }\n"
    "  for (int step = 16; step > 0; step /= 2) {\n"
    "    for (int i = 0; i < step; ++i) { lanes[i] += lanes[i + step]; }\n"
    "  }\n"
    "  return lanes[0];\n";

Task norm_task() {
  Task task = small_task();
  task.reduction = formula("n");
  task.work.flops = formula("8*n");
  task.held_out = {{"n", {200, 2000}}};
  task.files["baseline.cpp"] = in_order;
  task.files["reference.hpp"] =
      "#include <cmath>\n"
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) {\n"
      "  using std::sqrt;\n"
      "  const Real count = static_cast<Real>(n);\n"
      "  Real sum = static_cast<Real>(0);\n"
      "  for (std::int64_t i = 0; i < n; ++i) { sum += x[i]; }\n"
      "  const Real mean = sum / count;\n"
      "  Real squares = static_cast<Real>(0);\n"
      "  for (std::int64_t i = 0; i < n; ++i) { squares += (x[i] - mean) * (x[i] - mean); }\n"
      "  const Real scale = static_cast<Real>(1) / sqrt(squares / count + "
      "static_cast<Real>(1e-5));\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = (x[i] - mean) * scale + y[i]; }\n"
      "}\n";
  return task;
}

// The task's author has no reference but the kernel there is.
Task norm_by_baseline() {
  Task task = norm_task();
  task.reference = {};
  task.reference.baseline = true;
  task.files.erase("reference.hpp");
  return task;
}

class Condition : public JudgeTest {
 protected:
  [[nodiscard]] Verdict timed(const std::string& source) const {
    EvaluateRequest request;
    request.candidate = small_candidate(source);
    return verdict_on(request);
  }
};

TEST_F(Condition, OfZeroVarianceIsNotHeldAgainstAnotherOrderOfSumming) {
  for (const Task& task : {norm_task(), norm_by_baseline()}) {
    SCOPED_TRACE(task.reference.baseline ? "against the baseline" : "against the reference");
    ASSERT_NO_FATAL_FAILURE(open(task));
    for (int i = 0; i < 2; ++i) {
      const Verdict verdict = timed(norm_source(in_lanes));
      EXPECT_EQ(verdict.outcome, Outcome::passed)
          << verdict.summary << ::testing::PrintToString(verdict.evidence);
    }
  }
}

TEST_F(Condition, ExplainsNoWrongResult) {
  for (const Task& task : {norm_task(), norm_by_baseline()}) {
    SCOPED_TRACE(task.reference.baseline ? "against the baseline" : "against the reference");
    ASSERT_NO_FATAL_FAILURE(open(task));
    // Wrong for constant inputs alone, for all, and by what a lower precision would give.
    for (const char* result : {"variance < 1e-6f ? 0.5f + y[i] : normed + y[i]",
                               "x[i] * scale + y[i]", "normed * 1.0003f + y[i]"}) {
      SCOPED_TRACE(result);
      EXPECT_EQ(verdict_on(untimed(norm_source(in_lanes, result))).outcome, Outcome::incorrect);
    }
  }
}

}  // namespace
}  // namespace kernelpro
