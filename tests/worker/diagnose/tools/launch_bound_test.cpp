#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(LaunchBoundTest, GapsBeyondAMicrosecondGo) {
  // A kernel of 2 us each 6 us: 4 us of gap, of which one stays.
  const Profile profile = with_trace(TraceMaker().launches(51, 6000, 2000).trace());
  const Finding finding = run_tool("launch_bound", profile).findings.at(0);
  const double span = 50 * 6000 + 2000;
  EXPECT_NEAR(finding.predicted_gain, span / (span - 50 * 3000), 1e-9);
  EXPECT_EQ(finding.kernel, "");
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
