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

}  // namespace
}  // namespace kernelpro
