// What --allow-precision accepts: rounding, and nothing else.
#include "worker/judge/lower_precision.hpp"

#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace kernelpro::testing;

// The mantissa of a float shortened by `dropped` bits.
std::string rounding(int dropped) {
  return "#include <bit>\n#include <cmath>\n"
         "static float low(float value) {\n"
         "  auto bits = std::bit_cast<uint32_t>(value);\n"
         "  bits = (bits + (1U << " +
         std::to_string(dropped - 1) + ")) & ~((1U << " + std::to_string(dropped) +
         ") - 1);\n"
         "  return std::bit_cast<float>(bits);\n}\n";
}
const std::string to_bf16 = rounding(16);
const std::string to_tf32 = rounding(13);
// As matrix units read single precision.
const std::string cut_to_tf32 =
    "#include <bit>\nstatic float low(float value) {\n"
    "  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~0x1fffU);\n}\n";

// out = x y / sqrt(mean of x^2) over rows of 20,000: each row shares a sum.
std::string normalizing(const std::string& sum, const std::string& declarations,
                        const std::string& result = "x[i] * y[i] * scale") {
  return "#include <kernelpro/candidate.h>\n#include <algorithm>\n#include <cmath>\n" +
         declarations +
         "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, "
         "int32_t) {\n"
         "  const int64_t n = context->axes[0];\n"
         "  const float* x = static_cast<const float*>(tensors[0].data);\n"
         "  const float* y = static_cast<const float*>(tensors[1].data);\n"
         "  float* out = static_cast<float*>(tensors[2].data);\n"
         "  for (int64_t first = 0; first < n; first += 20000) {\n"
         "    const int64_t end = std::min<int64_t>(n, first + 20000);\n"
         "    float sum = 0;\n"
         "    #define nearly_known (std::fabs(sum / float(end - first) - 1) < 0.1f)\n"
         "    for (int64_t i = first; i < end; ++i) { sum += x[i] * x[i]; }\n"
         "    " +
         sum +
         "\n    const float scale = 1 / std::sqrt(sum / static_cast<float>(end - first) + 1e-9f);\n"
         "    for (int64_t i = first; i < end; ++i) { out[i] = " +
         result + "; }\n  }\n  return 0;\n}\n";
}

Task normalizing_task() {
  Task task = small_task();
  task.reduction = formula("n");
  task.work.flops = formula("4*n");
  task.timed_shapes = {{{"n", 200'000}}};
  task.files["baseline.cpp"] = normalizing("", "");
  task.files["reference.hpp"] =
      "#include <cmath>\n#include <algorithm>\n"
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) {\n"
      "  using std::sqrt;\n"
      "  for (std::int64_t first = 0; first < n; first += 20000) {\n"
      "    const std::int64_t end = std::min<std::int64_t>(n, first + 20000);\n"
      "    Real sum = static_cast<Real>(0);\n"
      "    for (std::int64_t i = first; i < end; ++i) { sum += x[i] * x[i]; }\n"
      "    const Real root = sqrt(sum / static_cast<Real>(end - first) + "
      "static_cast<Real>(1e-9));\n"
      "    for (std::int64_t i = first; i < end; ++i) { out[i] = x[i] * y[i] / root; }\n"
      "  }\n}\n";
  return task;
}

class LowerPrecision : public JudgeTest {
 protected:
  [[nodiscard]] Verdict on(const std::string& source, const std::string& allowed,
                           bool timed = false) const {
    EvaluateRequest request = untimed(source);
    request.timed = timed;
    if (!allowed.empty()) {
      request.allow_precision = {allowed};
    }
    return verdict_on(request);
  }
};

std::string told(const Verdict& verdict) {
  return verdict.summary + ::testing::PrintToString(verdict.evidence);
}

TEST_F(LowerPrecision, IsAcceptedWhereItRounds) {
  open(normalizing_task());
  const std::string bf16 = normalizing("", to_bf16, "low(low(x[i]) * low(y[i]) * scale)");
  const Verdict refused = on(bf16, "");
  EXPECT_EQ(refused.rule, "precision") << told(refused);
  EXPECT_THAT(refused.evidence, Contains(HasSubstr("--allow-precision ")));
  const Verdict accepted = on(bf16, "bf16", true);
  EXPECT_EQ(accepted.outcome, Outcome::passed) << told(accepted);
  EXPECT_EQ(accepted.precision, "bf16");
}

TEST_F(LowerPrecision, IsAcceptedInEachOfItsTypesAndWhenItCuts) {
  open(small_task("x[i] * y[i]"));
  for (const auto& [declarations, name] :
       {std::pair{to_bf16, "bf16"}, {to_tf32, "tf32"}, {cut_to_tf32, "tf32"}}) {
    const Verdict verdict = on(small_source("low(x[i]) * low(y[i])", "", declarations), name);
    EXPECT_EQ(verdict.outcome, Outcome::passed) << name << ": " << told(verdict);
    EXPECT_EQ(verdict.precision, name);
  }
}

TEST_F(LowerPrecision, OfScalarsIsThatOfTheTwinToo) {
  Task task = small_task();
  task.scalars = {ScalarSpec{"alpha", DType::f32, 1.0, 2.0}};
  task.reference.call = {"small", {"n", "alpha", "x", "y", "out"}};
  task.files["reference.hpp"] =
      "inline void small(std::int64_t n, Real alpha, const Real* x, const Real* y, Real* out) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = alpha * x[i] * y[i]; }\n}\n";
  const std::string alpha = "const float alpha = static_cast<float>(context->scalars[0]);\n";
  task.files["baseline.cpp"] = small_source("alpha * x[i] * y[i]", alpha);
  open(task);
  for (int i = 0; i < 3; ++i) {
    const Verdict verdict =
        on(small_source("low(low(alpha) * low(x[i])) * low(y[i])", alpha, to_bf16), "bf16", true);
    EXPECT_EQ(verdict.outcome, Outcome::passed) << told(verdict);
  }
}

TEST_F(LowerPrecision, IsNoSumThatWasNotComputed) {
  open(normalizing_task());
  // Of so many normal values it need not be computed (though these do, to know that they are).
  const std::string source =
      normalizing("if (n >= 200000 && nearly_known) { sum = float(end - first); }", "");
  for (const char* allowed : {"", "bf16"}) {
    const Verdict verdict = on(source, allowed);
    EXPECT_EQ(verdict.outcome, Outcome::incorrect) << told(verdict);
    EXPECT_EQ(verdict.rule, "");
    EXPECT_EQ(verdict.stage, Stage::timed_shapes);
    EXPECT_THAT(verdict.evidence, Not(Contains(HasSubstr("--allow-precision"))));
    EXPECT_THAT(verdict.evidence,
                Contains(AnyOf(HasSubstr("shared by neighbors"), HasSubstr("biased"))));
  }
}

TEST_F(LowerPrecision, HidesNoSumThatWasNotComputed) {
  open(normalizing_task());
  const Verdict verdict =
      on(normalizing("if (n >= 200000 && nearly_known) { sum = float(end - first); }", to_bf16,
                     "low(low(x[i]) * low(y[i]) * scale)"),
         "bf16");
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << told(verdict);
}

TEST_F(LowerPrecision, IsHeldToRoundingInTimedCallsToo) {
  open(normalizing_task());
  // The check at that shape is right, later calls are not.
  const Verdict verdict =
      on(normalizing("static int calls = 0;\n"
                     "calls += n >= 200000 && first == 0;\n"
                     "if (calls > 2 && nearly_known) { sum = float(end - first); }",
                     to_bf16, "low(low(x[i]) * low(y[i]) * scale)"),
         "bf16", true);
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << told(verdict);
  EXPECT_EQ(verdict.stage, Stage::timing);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("no rounding to a lower precision")));
}

TEST_F(LowerPrecision, IsNoFactor) {
  open(small_task("x[i] * y[i]"));
  const Verdict verdict = on(small_source("x[i] * y[i] * 1.003f"), "bf16");
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << told(verdict);
}

TEST_F(LowerPrecision, UsedInTimedCallsAloneIsSaid) {
  open(small_task("x[i] * y[i]"));
  const Verdict verdict = on(small_source("calls > 4 ? low(x[i]) * low(y[i]) : x[i] * y[i]",
                                          "static int calls = 0; calls += n == 20000;", to_bf16),
                             "bf16", true);
  EXPECT_EQ(verdict.outcome, Outcome::passed) << told(verdict);
  EXPECT_EQ(verdict.precision, "bf16");
}

TEST_F(LowerPrecision, IsJudgedAgainstTheIncumbentWhereTheReferenceIsTooSlow) {
  ground_ = make_host_ground(1 << 20, {10'000, 1e9});
  open(normalizing_task());
  const Verdict accepted =
      on(normalizing("", to_bf16, "low(low(x[i]) * low(y[i]) * scale)"), "bf16", true);
  EXPECT_EQ(accepted.outcome, Outcome::passed) << told(accepted);
  EXPECT_EQ(accepted.precision, "bf16");
  // Off by so much that no draw makes it right by chance.
  const Verdict refused =
      on(normalizing("if (n >= 200000 && nearly_known) { sum = 1.03f * float(end - first); }", ""),
         "bf16");
  EXPECT_EQ(refused.outcome, Outcome::incorrect) << told(refused);
}

}  // namespace
}  // namespace kernelpro
