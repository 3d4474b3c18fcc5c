#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(HostWaitsTest, NamesTheCallThatWaits) {
  const Finding finding = run_tool("host_waits", defect("host_waits")).findings.at(0);
  EXPECT_THAT(finding.cause, HasSubstr("cudaDeviceSynchronize"));
  // After each of 20 kernels of 10 us the host needs 2 us to come back and 5 to launch, 2.7 of that
  // for being traced.
  const double span = 20 * 10000 + 19 * (7000 - 2700);
  EXPECT_NEAR(finding.predicted_gain, span / (span - 19 * 3300), 1e-9);
}

TEST(HostWaitsTest, NotForAWaitAtTheEndOfALongQueue) {
  TraceMaker maker;
  maker.launches(20, 5000, 50000);
  maker.call(CallKind::synchronize, 100000, 1200000);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
}

TEST(HostWaitsTest, NotForWaitsBetweenLongKernels) {
  EXPECT_FALSE(
      finds("host_waits", with_trace(TraceMaker().launches_with_waits(20, 5000, 1000000).trace())));
}

TEST(HostWaitsTest, NotWhenAnotherThreadWaits) {
  TraceMaker maker;
  maker.launches(20, 6000, 2000);
  maker.call(CallKind::synchronize, 0, 120000, 2);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
}

TEST(HostWaitsTest, PageableCopiesWithNoKernelBeside) {
  TraceMaker maker;
  maker.copy(maker.call(CallKind::copy, 0, 500000), 0, 500000, true);
  maker.kernel(maker.call(CallKind::launch, 500000, 500500), 501000, 1000000);
  const ToolResult result = run_tool("host_waits", with_trace(maker.trace()));
  ASSERT_EQ(result.findings.size(), 1U);
  // The microsecond until the launch is the trace's.
  EXPECT_NEAR(result.findings[0].predicted_gain, 999e3 / (999e3 - 0.6 * 500000), 1e-6);
  EXPECT_THAT(result.findings[0].moves.at(1), HasSubstr("pinned"));
}

TEST(HostWaitsTest, NotForCopiesBesideKernels) {
  TraceMaker maker;
  maker.kernel(maker.call(CallKind::launch, 0, 1000), 1000, 1000000);
  maker.copy(maker.call(CallKind::copy, 1000, 2000), 2000, 500000, false);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
}

TEST(HostWaitsTest, NotForCopiesWithinTheGpu) {
  TraceMaker maker;
  maker.copy(maker.call(CallKind::copy, 0, 500), 0, 500000, false, CopyKind::device_to_device);
  maker.kernel(maker.call(CallKind::launch, 500, 1000), 500000, 1000000);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
}

TEST(HostWaitsTest, AllocationsThatBlock) {
  TraceMaker maker;
  maker.kernel(maker.call(CallKind::launch, 0, 1000), 1000, 10000);
  maker.call(CallKind::allocate, 5000, 60000);
  maker.kernel(maker.call(CallKind::launch, 60000, 62000), 62000, 100000);
  EXPECT_TRUE(finds("host_waits", with_trace(maker.trace())));
}

TEST(HostWaitsTest, TimesFromOutsideDoNoHarm) {
  Profile profile = defect("host_waits");
  profile.trace->launches[3].end_ns = -5;
  profile.trace->launches[4].start_ns = INT64_MIN;
  profile.trace->launches[5].end_ns = INT64_MAX;
  profile.trace->calls[2].start_ns = INT64_MIN;
  profile.trace->calls[3].end_ns = INT64_MAX;
  for (const Finding& finding : run_tool("host_waits", profile).findings) {
    EXPECT_GE(finding.predicted_gain, 1.1);
  }
  profile.trace->end_ns = 0;
  EXPECT_FALSE(finds("host_waits", profile));
  EXPECT_FALSE(finds("launch_bound", profile));
}

}  // namespace
}  // namespace kernelpro
