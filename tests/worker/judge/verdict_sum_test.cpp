// What several trials of one candidate come to.
#include "worker/judge/verdict_sum.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

TEST(VerdictSum, KeepsWhatAnotherTrialFound) {
  Verdict verdict;
  verdict.suspicions = {"within the noise of the memory bound"};
  Verdict again;
  again.precision = "bf16";
  again.suspicions = {"within the noise of the memory bound", "faster than it can be"};
  keep_findings(verdict, again);
  EXPECT_EQ(verdict.precision, "bf16");
  EXPECT_THAT(verdict.suspicions,
              ElementsAre("within the noise of the memory bound", "faster than it can be"));
  pass(verdict, true, "the baseline");
  EXPECT_TRUE(verdict.suspect);
}

TEST(VerdictSum, KeepsTheLowerOfTwoPrecisions) {
  Verdict verdict;
  verdict.precision = "bf16";
  keep_findings(verdict, Verdict());
  EXPECT_EQ(verdict.precision, "bf16");
  EXPECT_TRUE(verdict.suspicions.empty());
}

}  // namespace
}  // namespace kernelpro
