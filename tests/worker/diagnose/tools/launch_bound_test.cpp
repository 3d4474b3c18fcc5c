#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(LaunchBoundTest, GapsBeyondAMicrosecondGo) {
  // A kernel of 2 us each 8 us: 6 us of gap, of which a fused kernel has none; nor has it the 1.5
  // us of starting and ending.
  Profile profile = with_trace(TraceMaker().launches(51, 8000, 2000).trace());
  profile.trace->origin = "nsys";
  const Finding finding = run_tool("launch_bound", profile).findings.at(0);
  const double span = 50 * 8000 + 2000;
  EXPECT_NEAR(finding.observed, 50 * 5000 / span, 1e-9);
  EXPECT_NEAR(finding.predicted_gain, span / (span - 50 * 7500), 1e-9);
  EXPECT_EQ(finding.kernel, "");
}

TEST(LaunchBoundTest, WhatTracingCostsTheHostIsNotLost) {
  // Without the trace's 2.7 us a call the gaps are those of a graph.
  Profile profile = with_trace(TraceMaker().launches(51, 12000, 8500).trace());
  EXPECT_FALSE(finds("launch_bound", profile));
  profile.trace->origin = "nsys";
  EXPECT_TRUE(finds("launch_bound", profile));
}

TEST(LaunchBoundTest, NotWhenTheHostRunsAhead) {
  EXPECT_FALSE(finds("launch_bound", with_trace(TraceMaker().launches(50, 6000, 50000).trace())));
}

TEST(LaunchBoundTest, NotWhenTheHostWaitsForTheGpu) {
  const Profile profile = with_trace(TraceMaker().launches_with_waits(20, 5000, 10000).trace());
  EXPECT_FALSE(finds("launch_bound", profile));
}

TEST(LaunchBoundTest, NotForOneLongPauseOfTheHost) {
  TraceMaker maker;
  maker.kernel(maker.call(CallKind::launch, 0, 5000), 5000, 100000);
  maker.kernel(maker.call(CallKind::launch, 5000000, 5005000), 5005000, 5100000);
  EXPECT_FALSE(finds("launch_bound", with_trace(maker.trace())));
}

// The code of each of ten kernels is loaded in front of its first launch.
TEST(LaunchBoundTest, NotForKernelsThatAreLoaded) {
  Profile profile = with_trace(TraceMaker().launches(10, 60000, 30000).trace());
  EXPECT_TRUE(finds("launch_bound", profile));
  for (TracedLaunch& launch : profile.trace->launches) {
    launch.name += std::to_string(launch.index);
  }
  EXPECT_FALSE(finds("launch_bound", profile));
}

TEST(LaunchBoundTest, AKernelAskedForInTimeWaitsForTheGpuItself) {
  TraceMaker maker;
  const auto first = maker.call(CallKind::launch, 0, 1000);
  const auto second = maker.call(CallKind::launch, 1000, 2000);
  maker.kernel(first, 2000, 10000);
  maker.kernel(second, 30000, 40000);
  EXPECT_FALSE(finds("launch_bound", with_trace(maker.trace())));
}

TEST(LaunchBoundTest, WithoutAUsableTraceThatIsSaid) {
  Profile profile = healthy();
  EXPECT_THAT(run_tool("launch_bound", profile).not_available,
              testing::ElementsAre("no trace of the program"));
  profile = defect("launch_bound");
  profile.trace->complete = false;
  profile.trace->problem = "records were dropped";
  EXPECT_FALSE(finds("launch_bound", profile));
  EXPECT_THAT(run_tool("launch_bound", profile).not_available,
              testing::ElementsAre(HasSubstr("records were dropped")));
  profile = defect("launch_bound");
  profile.trace->calls.clear();
  EXPECT_THAT(run_tool("launch_bound", profile).not_available,
              testing::ElementsAre(HasSubstr("no calls")));
  profile.trace->launches.clear();
  EXPECT_THAT(run_tool("launch_bound", profile).not_available,
              testing::ElementsAre(HasSubstr("no kernel")));
}

}  // namespace
}  // namespace kernelpro
