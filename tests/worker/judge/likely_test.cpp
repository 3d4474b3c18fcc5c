#include "worker/judge/likely.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

// So many alike rounds of one arm.
struct Rounds3 {
  Rounds3(double took, double waited, double others_waited, double used) : took_ns(3, took) {
    Round round;
    round.busy_ns = waited;
    round.others_ns = others_waited;
    round.used_ns = used;
    rounds.assign(3, round);
  }
  [[nodiscard]] TimedRounds timed() const { return {rounds, took_ns}; }

  std::vector<Round> rounds;
  std::vector<double> took_ns;
};

TEST(LikelySpeedup, IsWhatWasMeasuredWhereNobodyWaited) {
  const Rounds3 candidate(2e6, 0, 0, 4e6);
  const Rounds3 incumbent(8e6, 0, 0, 8e6);
  EXPECT_DOUBLE_EQ(likely_speedup(candidate.timed(), incumbent.timed(), 2), 4);
}

TEST(LikelySpeedup, LeavesOutWhatEitherArmWaited) {
  const Rounds3 candidate(6e6, 1e6, 3e6, 4e6);
  const Rounds3 incumbent(12e6, 4e6, 0, 8e6);
  EXPECT_DOUBLE_EQ(likely_speedup(candidate.timed(), incumbent.timed(), 2), 4);
}

TEST(LikelySpeedup, GoesNoFurtherThanItsThreadsWorked) {
  // Three threads waited 9 ms at the same time; two processors worked 8 ms for them.
  const Rounds3 candidate(8e6, 3e6, 6e6, 8e6);
  const Rounds3 incumbent(8e6, 0, 0, 8e6);
  EXPECT_DOUBLE_EQ(likely_speedup(candidate.timed(), incumbent.timed(), 2), 2);
}

TEST(LikelySpeedup, IsNoLowerThanMeasuredByWhatTheKernelCountsTwice) {
  const Rounds3 candidate(2e6, 0, 0, 9e6);
  const Rounds3 incumbent(8e6, 0, 0, 8e6);
  EXPECT_DOUBLE_EQ(likely_speedup(candidate.timed(), incumbent.timed(), 2), 4);
}

TEST(LikelySpeedup, IsUnknownWithoutRounds) {
  EXPECT_DOUBLE_EQ(likely_speedup({{}, {}}, {{}, {}}, 2), 0);
}

}  // namespace
}  // namespace kernelpro
