#include "worker/judge/allowance.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

constexpr double second_ns = 1e9;

TEST(Allowance, IsSpentByAllWaitsTogether) {
  Allowance allowance(10'000);
  for (int i = 0; i < 5; ++i) {
    allowance.take(1.9 * second_ns, 0);
    EXPECT_FALSE(allowance.spent());
  }
  EXPECT_LE(allowance.cut(2000), 1001);
  EXPECT_GE(allowance.cut(2000), 1);
  EXPECT_EQ(allowance.cut(100), 100);
  // More than a hypervisor can have taken since.
  allowance.take(3600 * second_ns, 0);
  EXPECT_TRUE(allowance.spent());
  EXPECT_GE(allowance.cut(2000), 1) << "a wait without a deadline";
}

TEST(Allowance, GrowsWithWhatTheBaselineTakes) {
  Allowance allowance(1000);
  allowance.give_for(2 * second_ns, 3);
  allowance.take(360 * second_ns, 0);
  EXPECT_FALSE(allowance.spent());
  EXPECT_EQ(allowance.cut(2000), 2000);
  EXPECT_GE(allowance.cut(60'000), 2001);
  allowance.take(3600 * second_ns, 0);
  EXPECT_TRUE(allowance.spent());
}

double stolen_so_far = 0;

double stolen_for_test() {
  return stolen_so_far;
}

TEST(Allowance, ExcusesWhatOthersTookUpToHalfOfAWait) {
  Allowance allowance(10'000, stolen_for_test);
  allowance.take(10 * second_ns, 3 * second_ns);
  EXPECT_EQ(allowance.cut(60'000), 6001) << "half of the next wait may be excused";
  allowance.take(4 * second_ns, 4 * second_ns);
  EXPECT_EQ(allowance.cut(60'000), 2001);
}

TEST(Allowance, CutsNoWaitForWhatTheHypervisorTook) {
  Allowance allowance(10'000, stolen_for_test);
  allowance.take(10 * second_ns, 0);
  EXPECT_EQ(allowance.cut(2000), 1);
  stolen_so_far += 3 * second_ns;
  EXPECT_EQ(allowance.cut(2000), 2000);
  EXPECT_EQ(allowance.cut(60'000), 6001);
  allowance.take(2.9 * second_ns, 0);
  EXPECT_FALSE(allowance.spent());
  allowance.take(0.2 * second_ns, 0);
  EXPECT_TRUE(allowance.spent());
}

// Of many busy processors it takes more seconds than pass.
TEST(Allowance, ExcusesWhatTheHypervisorTookUpToHalfOfAllWaits) {
  Allowance allowance(10'000, stolen_for_test);
  for (int i = 0; i < 9; ++i) {
    stolen_so_far += 100 * second_ns;
    allowance.take(2 * second_ns, 0);
    EXPECT_FALSE(allowance.spent());
  }
  stolen_so_far += 100 * second_ns;
  allowance.take(2.1 * second_ns, 0.5 * second_ns);
  EXPECT_TRUE(allowance.spent());
}

TEST(Allowance, SaysWhatWasAllowed) {
  Allowance allowance(30'000);
  allowance.take(31 * second_ns, 0);
  const Failure failure = allowance.failure();
  EXPECT_EQ(failure.outcome, Outcome::timed_out);
  EXPECT_THAT(failure.summary, HasSubstr("for 31 s, and 30 s are the most"));
}

}  // namespace
}  // namespace kernelpro
