#include "coordinator/report/energy_text.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JoulesText, HasThreeDigitsAndAUnitThatFits) {
  EXPECT_EQ(joules_text(1.234), "1.23 J");
  EXPECT_EQ(joules_text(0.0456), "45.6 mJ");
  EXPECT_EQ(joules_text(123.4e-6), "123 µJ");
  EXPECT_EQ(joules_text(9.99e-9), "9.99 nJ");
  EXPECT_EQ(joules_text(35e-12), "35.0 pJ");
  EXPECT_EQ(joules_text(-0.5), "-500 mJ");
  EXPECT_EQ(joules_text(0), "0 J");
}

Energy measured() {
  Energy energy;
  energy.meter = "some counter";
  energy.circumstances = {{"power_limit_watts", 700}};
  energy.ratio = 0.9;
  energy.ratio_interval = {0.88, 0.92};
  energy.comparison = EnergyComparison::less;
  energy.remarks = {"caches are warm"};
  energy.shapes.resize(1);
  energy.shapes[0].shape = {{"n", 512}};
  energy.shapes[0].idle_watts = 76;
  ArmEnergy& candidate = energy.shapes[0].candidate;
  candidate.joules = 0.09;
  candidate.joules_interval = {0.088, 0.092};
  candidate.net_joules = 0.07;
  candidate.net_interval = {0.068, 0.072};
  candidate.watts = 400;
  candidate.call_ns = 225e3;
  candidate.joules_per_flop = 11e-12;
  return energy;
}

TEST(EnergyText, SaysWhatWasMeasuredByWhatAndWhatToKnow) {
  EXPECT_THAT(
      energy_text(measured()),
      AllOf(HasSubstr("energy: 0.900 [0.880, 0.920] of the incumbent's, it takes less (by some "
                      "counter, idle 76 W, power_limit_watts 700)"),
            HasSubstr("energy remark: caches are warm"), HasSubstr("n=512"),
            HasSubstr("90.0 mJ [88.0 mJ, 92.0 mJ]"), HasSubstr("400 W"), HasSubstr("11.0 pJ")));
  Energy same = measured();
  same.comparison = EnergyComparison::same;
  EXPECT_THAT(energy_text(same), HasSubstr("no difference beyond 2 %"));
}

TEST(RankingText, ShowsTheFinalistsInTheirOrder) {
  kernelpro::Run run;
  EXPECT_THAT(ranking_text(run), IsEmpty());
  run.settings.objective = Objective::edp;
  run.ranking.resize(2);
  run.ranking[0].node = 17;
  run.ranking[0].speedup = 2;
  run.ranking[0].energy_ratio = 0.5;
  run.ranking[0].joules = 0.125;
  run.ranking[0].holds = true;
  run.ranking[1].node = 4;
  const std::string text = ranking_text(run);
  EXPECT_THAT(text, AllOf(HasSubstr("finalists by edp"), HasSubstr("125 mJ"), HasSubstr("0.250")));
  EXPECT_LT(text.find("17"), text.find("\n    2 "));
}

}  // namespace
}  // namespace kernelpro
