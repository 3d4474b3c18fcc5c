// Energy with a real judge and real arms, by counters in a folder of the test's own; and what
// follows from windows by arithmetic.
#include "worker/judge/energy.hpp"

#include "common/base/file.hpp"
#include "support/energy_counter.hpp"
#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

EnergyWindow window(double watts, double call_seconds) {
  return {2 * watts, 2, 20, static_cast<std::int64_t>(2 / call_seconds), call_seconds};
}

// A kernel of 2 ms at 300 W against one of 1 ms at 400 W, on a device that idles at 100 W.
ShapeEnergy known_energy() {
  ShapeEnergy energy;
  energy.candidate.windows = {5, window(300, 0.002)};
  energy.incumbent.windows = {5, window(400, 0.001)};
  energy.idle = {{200, 2, 20, 0, 0}, {200, 2, 20, 0, 0}};
  return energy;
}

TEST(EnergySummary, FollowsFromTheWindows) {
  ShapeEnergy energy = known_energy();
  const Task task = testing::small_task();  // n flops, 12 n bytes
  summarize_energy(task, {{"n", 1000}}, 1, energy);
  EXPECT_DOUBLE_EQ(energy.idle_watts, 100);
  EXPECT_DOUBLE_EQ(energy.candidate.joules, 0.6);
  EXPECT_DOUBLE_EQ(energy.candidate.net_joules, 0.4);
  EXPECT_DOUBLE_EQ(energy.incumbent.joules, 0.4);
  EXPECT_DOUBLE_EQ(energy.incumbent.net_joules, 0.3);
  EXPECT_DOUBLE_EQ(energy.candidate.watts, 300);
  EXPECT_DOUBLE_EQ(energy.candidate.call_ns, 2e6);
  EXPECT_DOUBLE_EQ(energy.candidate.joules_per_flop, 0.6e-3);
  EXPECT_DOUBLE_EQ(energy.candidate.joules_per_byte, 0.05e-3);
  EXPECT_NEAR(energy.ratio, 1.5, 1e-12);
  EXPECT_NEAR(energy.ratio_interval.low, 1.5, 1e-12);
  EXPECT_NEAR(energy.net_ratio, 4.0 / 3, 1e-12);
}

TEST(EnergySummary, TheRatioComparesWindowsThatStandSideBySide) {
  ShapeEnergy energy = known_energy();
  // It gets warmer: both take more and more, the candidate always 10 % more than the other.
  for (std::size_t i = 0; i < 5; ++i) {
    const double watts = 300 + 40 * static_cast<double>(i);
    energy.candidate.windows[i] = window(1.1 * watts, 0.001);
    energy.incumbent.windows[i] = window(watts, 0.001);
  }
  summarize_energy(testing::small_task(), {{"n", 10}}, 1, energy);
  EXPECT_NEAR(energy.ratio_interval.low, 1.1, 1e-9);
  EXPECT_NEAR(energy.ratio_interval.high, 1.1, 1e-9);
  EXPECT_LT(energy.candidate.joules_interval.low, energy.candidate.joules_interval.high);
}

TEST(EnergySummary, NothingIsClaimedWhereIdlingTakesAsMuch) {
  ShapeEnergy energy = known_energy();
  energy.idle = {{800, 2, 20, 0, 0}};
  summarize_energy(testing::small_task(), {{"n", 10}}, 1, energy);
  EXPECT_EQ(energy.net_ratio, 1);
  EXPECT_EQ(energy.net_ratio_interval.low, 0);
  EXPECT_NEAR(energy.ratio, 1.5, 1e-12);
}

TEST(EnergySummary, ShapesAreCombinedByTheirGeometricMean) {
  Energy energy;
  energy.shapes.resize(2);
  energy.shapes[0].ratio = 0.5;
  energy.shapes[0].ratio_interval = {0.4, 0.6};
  energy.shapes[1].ratio = 2;
  energy.shapes[1].ratio_interval = {1.9, 2.1};
  combine_energy(energy);
  EXPECT_NEAR(energy.ratio, 1, 1e-12);
  EXPECT_EQ(energy.comparison, EnergyComparison::same);
  energy.shapes.pop_back();
  combine_energy(energy);
  EXPECT_NEAR(energy.ratio_interval.high, 0.6, 1e-12);
  EXPECT_EQ(energy.comparison, EnergyComparison::less);
}

TEST(EnergyBatch, GoesRoundTheSetsForAsLongAsWanted) {
  std::size_t next = 0;
  EXPECT_THAT(batch_sets({4, 2, 9}, 10, 50, next), ElementsAre(4, 2, 9, 4, 2));
  EXPECT_THAT(batch_sets({4, 2, 9}, 10, 20, next), ElementsAre(9, 4));
  EXPECT_THAT(batch_sets({4, 2, 9}, 1000, 20, next), ElementsAre(2));
  EXPECT_THAT(batch_sets({7}, 0, 1e9, next = 0), SizeIs(runner::max_sets));
}

// What the ground reads while this is there.
class Counter : public testing::EnergyCounter {
 public:
  Counter() { setenv("KERNELPRO_POWERCAP", folder().c_str(), 1); }
  ~Counter() { unsetenv("KERNELPRO_POWERCAP"); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
};

class EnergyTest : public JudgeTest {
 protected:
  EnergyTest() {
    settings_.energy_windows = 2;
    settings_.energy_rules = {0.02, 0.2, 3, 1};
  }

  [[nodiscard]] Evaluation evaluate(const std::string& source, bool energy = true) const {
    EvaluateRequest request;
    request.candidate = testing::small_candidate(source);
    request.energy = energy;
    return judge_->evaluate(request);
  }
};

TEST_F(EnergyTest, IsMeasuredWhenAskedForAndOnlyThen) {
  const Counter counter;
  open(testing::small_task());
  const Verdict without = evaluate(testing::small_source("x[i] + y[i]"), false).verdict;
  EXPECT_EQ(without.outcome, Outcome::passed) << without.summary;
  EXPECT_FALSE(without.energy);
  const Verdict verdict = evaluate(testing::small_source("x[i] + y[i]")).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_THAT(verdict.evidence, IsEmpty());
  ASSERT_TRUE(verdict.energy);
  EXPECT_EQ(verdict.energy->meter, "RAPL of 1 package");
  ASSERT_THAT(verdict.energy->shapes, SizeIs(1));
  const ShapeEnergy& shape = verdict.energy->shapes.front();
  EXPECT_EQ(shape.shape.at("n"), 20'000);
  EXPECT_THAT(shape.idle, SizeIs(2));
  for (const ArmEnergy* arm : {&shape.candidate, &shape.incumbent}) {
    EXPECT_THAT(arm->windows, SizeIs(2));
    EXPECT_GT(arm->watts, 0);
    EXPECT_GT(arm->joules, 0);
    EXPECT_GT(arm->joules_per_flop, arm->joules_per_byte);
    for (const EnergyWindow& one : arm->windows) {
      EXPECT_GE(one.seconds, 0.2);
      EXPECT_GT(one.calls, 0);
    }
  }
}

TEST_F(EnergyTest, OutputsAreWatchedMeanwhile) {
  const Counter counter;
  open(testing::small_task());
  // Where the outputs are right already, as they are only here, it spoils one.
  const Verdict verdict =
      evaluate(testing::small_source("x[i] + y[i]",
                                     "if (n > 5000 && out[0] == x[0] + y[0]) { out[1] = 7; "
                                     "return 0; }"))
          .verdict;
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << verdict.summary;
  EXPECT_EQ(verdict.rule, "energy");
  EXPECT_FALSE(verdict.energy);
}

TEST_F(EnergyTest, WorkThatIsLeftOutWhereNothingChangesIsSuspect) {
  const Counter counter;
  open(testing::small_task("x[i] / (2 + y[i] * y[i])"));
  const Verdict verdict =
      evaluate(testing::small_source("value(x[i], y[i])",
                                     "if (n > 5000 && out[0] == value(x[0], y[0])) { return 0; }",
                                     "__attribute__((noinline)) static float value(float x, float "
                                     "y) { return x / (2 + y * y); }\n"))
          .verdict;
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_TRUE(verdict.suspect);
  EXPECT_THAT(verdict.suspicions, Contains(HasSubstr("while its energy was measured")));
}

TEST_F(EnergyTest, ACounterThatStandsStillCostsTheEnergyAndNotTheVerdict) {
  Counter counter;
  open(testing::small_task());
  counter.stand_still();
  const Verdict verdict = evaluate(testing::small_source("x[i] + y[i]")).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  EXPECT_FALSE(verdict.energy);
  EXPECT_THAT(verdict.evidence,
              Contains(HasSubstr("energy was not measured: the energy counter has stood still")));
}

TEST_F(EnergyTest, AGroundWithoutACounterSaysWhy) {
  const Result<ScratchDir> empty = ScratchDir::create("energy-test");
  setenv("KERNELPRO_POWERCAP", empty->path().c_str(), 1);
  const Result<EnergyMeter*> meter = ground_->energy_meter();
  unsetenv("KERNELPRO_POWERCAP");
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().kind, ErrorKind::environment);
  EXPECT_THAT(meter.error().text(), HasSubstr("no RAPL counters"));
}

}  // namespace
}  // namespace kernelpro
