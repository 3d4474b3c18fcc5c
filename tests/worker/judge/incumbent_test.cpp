// An incumbent that is a candidate itself, and knows which of the two it is.
#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

class OwnIncumbent : public JudgeTest {
 protected:
  // Each call `times` times, where the first call of the process was at the timed size.
  [[nodiscard]] static Candidate slow_as_incumbent(int times) {
    const std::string before =
        "static const bool incumbent = n == 20000;\n"
        "  const int times = incumbent ? " +
        std::to_string(times) +
        " : 1;\n"
        "  for (volatile int k = 1; k < times; k = k + 1) {\n"
        "    for (int64_t i = 0; i < n; ++i) { static_cast<volatile float*>(out)[i] = x[i]; }\n"
        "  }\n";
    return testing::small_candidate(testing::small_source("x[i] + y[i]", before));
  }

  [[nodiscard]] Verdict against(const Candidate& incumbent) const {
    EvaluateRequest request;
    request.candidate = testing::small_candidate(testing::small_source("y[i] + x[i]"));
    request.incumbent = incumbent;
    return verdict_on(request);
  }
};

TEST_F(OwnIncumbent, IsHeldToWhatItTakesAsACandidate) {
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  const Verdict verdict = against(slow_as_incumbent(20));
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_TRUE(verdict.timing.at_least);
  const ShapeTiming& shape = verdict.timing.shapes.front();
  // In pairs it takes many times as long; what counts is far less.
  EXPECT_GT(shape.incumbent_ns, 3 * shape.incumbent_alone_ns);
  EXPECT_LT(verdict.timing.speedup, shape.incumbent_ns / shape.candidate_ns / 2);
}

// In its first calls at the timed size it is slow in any place: there a screen would end its
// timing.
TEST_F(OwnIncumbent, IsTimedToTheEndAsACandidate) {
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  const std::string before =
      "static const bool incumbent = n == 20000;\n"
      "  static int calls = 0;\n"
      "  calls += n == 20000;\n"
      "  const int times = incumbent || (n == 20000 && calls < 10) ? 20 : 1;\n"
      "  for (volatile int k = 1; k < times; k = k + 1) {\n"
      "    for (int64_t i = 0; i < n; ++i) { static_cast<volatile float*>(out)[i] = x[i]; }\n"
      "  }\n";
  const Verdict verdict =
      against(testing::small_candidate(testing::small_source("x[i] + y[i]", before)));
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_FALSE(verdict.suspect) << ::testing::PrintToString(verdict.suspicions);
  EXPECT_TRUE(verdict.timing.at_least);
  const ShapeTiming& shape = verdict.timing.shapes.front();
  EXPECT_GT(shape.incumbent_ns, 3 * shape.incumbent_alone_ns);
}

TEST_F(OwnIncumbent, ThatIsSlowInBothPlacesIsBeaten) {
  ASSERT_NO_FATAL_FAILURE(open(testing::small_task()));
  const std::string slow =
      "for (volatile int k = 0; k < 20; k = k + 1) {\n"
      "    for (int64_t i = 0; i < n; ++i) { static_cast<volatile float*>(out)[i] = x[i]; }\n"
      "  }\n";
  const Verdict verdict =
      against(testing::small_candidate(testing::small_source("x[i] + y[i]", slow)));
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_EQ(verdict.timing.comparison, Comparison::faster) << verdict.summary;
}

// Where no reference is asked, an incumbent is not the truth for it: zeros in its own turn.
class WrongIncumbent : public JudgeTest {
 protected:
  void SetUp() override {
    Task task = testing::small_task();
    task.reference = {};
    task.reference.baseline = true;
    task.files.erase("reference.hpp");
    open(task);
  }

  [[nodiscard]] Verdict beside_it(const std::string& source) const {
    EvaluateRequest request;
    request.candidate = testing::small_candidate(source);
    request.incumbent = testing::small_candidate(testing::small_source(
        "incumbent ? 0 : x[i] + y[i]", "static const bool incumbent = n == 20000;\n"));
    return verdict_on(request);
  }
};

TEST_F(WrongIncumbent, AccusesNobody) {
  const Verdict verdict = beside_it(testing::small_source("y[i] + x[i]"));
  EXPECT_EQ(verdict.outcome, Outcome::not_judged) << verdict.summary;
}

TEST_F(WrongIncumbent, LetsNobodyPassWhoIsWrongLikeIt) {
  const Verdict verdict = beside_it(testing::small_source(
      "timed ? 0 : x[i] + y[i]",
      "static int calls = 0;\n  const bool timed = n == 20000 && calls++ > 0;\n"));
  EXPECT_NE(verdict.outcome, Outcome::passed) << verdict.summary;
}

// What it was allowed when it passed is no mistake of its turn beside others. All sets of all pairs
// are held against the baseline then, which takes no longer than the judge waits for it.
TEST_F(WrongIncumbent, IsNotOneOfALowerPrecisionThatIsAllowed) {
  EvaluateRequest request;
  request.candidate = testing::small_candidate(testing::small_source("y[i] + x[i]"));
  request.incumbent = testing::small_candidate(
      testing::small_source("low(x[i] + y[i])", "",
                            "#include <bit>\nstatic float low(float value) {\n"
                            "  const auto bits = std::bit_cast<uint32_t>(value) + 0x8000U;\n"
                            "  return std::bit_cast<float>(bits & 0xffff0000U);\n}\n"));
  request.allow_precision = {"bf16"};
  const Verdict verdict = verdict_on(request);
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
}

}  // namespace
}  // namespace kernelpro
