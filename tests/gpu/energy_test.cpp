// The energy counter of a real GPU.
#include <gmock/gmock.h>

#include <cstdio>

#include "gpu/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::SizeIs;
using namespace kernelpro::testing;

class GpuEnergy : public GpuTest {};

TEST_F(GpuEnergy, AnHonestCandidateTakesJoulesThatTheCounterShows) {
  const Result<EnergyMeter*> meter = ground_->energy_meter();
  if (!meter) {
    GTEST_SKIP() << meter.error().text();
  }
  JudgeSettings settings = judge_settings();
  settings.energy_windows = 1;
  ASSERT_NO_FATAL_FAILURE(open(stream_task(), settings));
  EvaluateRequest request;
  request.candidate = parse_gpu_candidate("honest_baseline.cu").hack.candidate;
  request.energy = true;
  const Verdict verdict = judge_->evaluate(request).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  for (const std::string& line : verdict.evidence) {
    std::printf("%s\n", line.c_str());
  }
  ASSERT_TRUE(verdict.energy);
  EXPECT_EQ(verdict.energy->meter, "NVML total energy");
  for (const ShapeEnergy& shape : verdict.energy->shapes) {
    EXPECT_THAT(shape.idle, SizeIs(2));
    EXPECT_GT(shape.idle_watts, 0);
    for (const ArmEnergy* arm : {&shape.candidate, &shape.incumbent}) {
      ASSERT_THAT(arm->windows, SizeIs(1));
      EXPECT_GE(arm->windows.front().seconds, settings.energy_rules.least_seconds);
      EXPECT_GE(arm->windows.front().steps, settings.energy_rules.least_steps);
      EXPECT_GT(arm->windows.front().calls, 0);
      EXPECT_GT(arm->joules, 0);
      EXPECT_GT(arm->watts, shape.idle_watts);
    }
    std::printf(
        "%.1f W idle, %.1f W at work, %.3g J a call, a step of the counter every %.0f ms\n",
        shape.idle_watts, shape.candidate.watts, shape.candidate.joules,
        1e3 * shape.candidate.windows.front().seconds / shape.candidate.windows.front().steps);
  }
}

}  // namespace
}  // namespace kernelpro
