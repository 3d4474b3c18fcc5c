// Predictions of tools, as far as earlier ones came true.
#include "coordinator/propose/tool_belief.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

constexpr const char* here = "a device";

// So many findings that promised `predicted` and gained `measured`.
ToolRecord seen(int cases, double predicted, double measured, KernelClass kind = KernelClass::dram,
                const std::string& device = here) {
  ToolRecord record;
  record.tool = "bank_conflicts";
  record.kind = kind;
  record.device = device;
  record.fired = record.followed = record.passed = cases;
  record.log_predicted = cases * std::log(predicted);
  record.log_measured = cases * std::log(measured);
  return record;
}

Finding promise(const std::string& tool, double gain) {
  Finding finding;
  finding.tool = tool;
  finding.predicted_gain = gain;
  finding.derivation = "by counters";
  return finding;
}

double share(const std::vector<ToolRecord>& records) {
  return belief_in("bank_conflicts", KernelClass::dram, here, records).share;
}

TEST(ToolBelief, WithoutARecordAPredictionIsTakenAsItIs) {
  std::vector<Finding> findings = {promise("bank_conflicts", 2)};
  correct_predictions(findings, KernelClass::dram, here, {});
  EXPECT_EQ(findings[0].predicted_gain, 2);
  EXPECT_EQ(findings[0].derived_gain, 0);
  EXPECT_EQ(findings[0].derivation, "by counters");
}

TEST(ToolBelief, FollowsWhatWasMeasuredTheMoreCasesThereAre) {
  EXPECT_NEAR(share({seen(1, 4, 2)}), 0.82, 0.001);
  EXPECT_NEAR(share({seen(100, 4, 2)}), 0.5, 0.03);
  EXPECT_NEAR(share({seen(100, 2, 4)}), 2, 0.1);
  EXPECT_GE(share({seen(100, 4, 0.5)}), 0) << "what was worse than nothing promises nothing";
  EXPECT_LE(share({seen(1000, 1.01, 100)}), 2) << "luck is no wonder";
}

TEST(ToolBelief, CasesOfTheSameClassAndDeviceCountMost) {
  const std::vector<ToolRecord> records = {seen(50, 4, 4), seen(50, 4, 1, KernelClass::l1),
                                           seen(50, 4, 1, KernelClass::dram, "another")};
  EXPECT_GT(share(records), 0.9);
  EXPECT_LT(belief_in("bank_conflicts", KernelClass::l1, here, records).share, 0.1);
  EXPECT_NEAR(belief_in("bank_conflicts", KernelClass::l2, here, records).share, 0.35, 0.05)
      << "by all that was seen of it";
  EXPECT_EQ(belief_in("other", KernelClass::dram, here, records).cases, 0);
}

TEST(ToolBelief, ToolsThatDoNotPaySinkAndSayWhy) {
  std::vector<Finding> findings = {promise("bank_conflicts", 3), promise("narrow_loads", 1.5)};
  correct_predictions(findings, KernelClass::dram, here, {seen(60, 3, 1.01)});
  EXPECT_EQ(findings[0].tool, "narrow_loads");
  EXPECT_EQ(findings[1].derived_gain, 3);
  EXPECT_LT(findings[1].predicted_gain, 1.2);
  EXPECT_THAT(findings[1].derivation, HasSubstr("by counters; that is 3.00, and what the tool's "
                                                "findings gained in 60 earlier cases makes it"));
  const double once = findings[1].predicted_gain;
  correct_predictions(findings, KernelClass::dram, here, {seen(60, 3, 1.01)});
  EXPECT_EQ(findings[1].predicted_gain, once) << "it is not done twice";
}

}  // namespace
}  // namespace kernelpro
