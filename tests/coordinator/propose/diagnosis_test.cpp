// The first cut of a diagnosis, from timings alone.
#include "coordinator/propose/diagnosis.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

Timing timing_of(double candidate_ns, double share, const std::string& bound_by) {
  ShapeTiming shape;
  shape.candidate_ns = candidate_ns;
  shape.share_of_bound = share;
  shape.bound_by = bound_by;
  Timing timing;
  timing.shapes = {shape};
  return timing;
}

TEST(Diagnosis, NearTheBoundItIsTheBoundsClass) {
  EXPECT_EQ(diagnose(timing_of(1e6, 0.8, "memory")).bottleneck, Bottleneck::memory);
  EXPECT_EQ(diagnose(timing_of(1e6, 0.6, "compute")).bottleneck, Bottleneck::compute);
  EXPECT_THAT(diagnose(timing_of(1e6, 0.8, "memory")).text, HasSubstr("80 %"));
}

TEST(Diagnosis, FarFromTheBoundItIsLatency) {
  EXPECT_EQ(diagnose(timing_of(1e6, 0.05, "compute")).bottleneck, Bottleneck::latency);
}

TEST(Diagnosis, AShortCallFarFromTheBoundIsOverhead) {
  EXPECT_EQ(diagnose(timing_of(5e3, 0.2, "memory")).bottleneck, Bottleneck::overhead);
  EXPECT_EQ(diagnose(timing_of(5e3, 0.9, "memory")).bottleneck, Bottleneck::memory);
}

TEST(Diagnosis, SharesAreAveragedOverTheShapes) {
  Timing timing = timing_of(1e6, 0.9, "memory");
  timing.shapes.push_back(timing.shapes.front());
  timing.shapes.back().share_of_bound = 0.1;
  EXPECT_NEAR(diagnose(timing).share_of_bound, 0.3, 1e-9);
}

TEST(Diagnosis, WithoutTimingNothingIsKnown) {
  EXPECT_EQ(diagnose({}).bottleneck, Bottleneck::unknown);
}

}  // namespace
}  // namespace kernelpro
