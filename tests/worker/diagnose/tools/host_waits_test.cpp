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

// A copy and a kernel, each half a millisecond, `steps` times.
TraceMaker copy_and_compute(int steps) {
  TraceMaker maker;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t start = 1'000'000LL * step;
    maker.copy(maker.call(CallKind::copy, start, start + 500000), start, start + 500000, true);
    maker.kernel(maker.call(CallKind::launch, start + 500000, start + 500500), start + 501000,
                 start + 1000000);
  }
  return maker;
}

TEST(HostWaitsTest, PageableCopiesWithNoKernelBeside) {
  const ToolResult result = run_tool("host_waits", with_trace(copy_and_compute(4).trace()));
  ASSERT_EQ(result.findings.size(), 1U);
  // From the first kernel on; the microsecond until each launch is the trace's.
  const double span = 4e6 - 501e3 - 3 * 1e3;
  EXPECT_NEAR(result.findings[0].predicted_gain, span / (span - 3 * 0.6 * 500000), 1e-6);
  EXPECT_THAT(result.findings[0].moves.at(1), HasSubstr("pinned"));
}

TEST(HostWaitsTest, NotForWhatAProgramDoesOnce) {
  EXPECT_FALSE(finds("host_waits", with_trace(copy_and_compute(1).trace())));
  EXPECT_FALSE(finds("host_waits", with_trace(copy_and_compute(2).trace())));
  // Set-up, a first run that is waited for and looked at, the work, read-back.
  TraceMaker maker;
  maker.copy(maker.call(CallKind::copy, 0, 400000), 0, 400000, true);
  maker.kernel(maker.call(CallKind::launch, 400000, 401000), 401000, 500000);
  maker.call(CallKind::synchronize, 401000, 520000);
  maker.copy(maker.call(CallKind::copy, 520000, 700000), 520000, 700000, true,
             CopyKind::device_to_host);
  maker.kernel(maker.call(CallKind::launch, 720000, 721000), 721000, 1000000);
  maker.copy(maker.call(CallKind::copy, 722000, 1500000), 1000000, 1500000, true,
             CopyKind::device_to_host);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
}

// A kernel that draws the first values, then memory and copies of four inputs, the work, four
// copies back, and a kernel that compares.
TEST(HostWaitsTest, NotForSetUpAndReadBackBetweenTheFirstAndTheLastKernel) {
  TraceMaker maker;
  maker.kernel(maker.call(CallKind::launch, 0, 2000), 2000, 12000);
  std::int64_t time = 12000;
  for (int input = 0; input < 4; ++input) {
    maker.call(CallKind::allocate, time - 1000, time + 100000);
    time += 100000;
    maker.copy(maker.call(CallKind::copy, time, time + 200000), time + 1000, time + 200000, true);
    time += 200000;
  }
  for (int work = 0; work < 5; ++work) {
    maker.kernel(maker.call(CallKind::launch, time, time + 2000), time + 2000, time + 100000);
    time += 2000;
  }
  time += 600000;
  for (int result = 0; result < 4; ++result) {
    maker.copy(maker.call(CallKind::copy, time, time + 200000), time + 1000, time + 200000, true,
               CopyKind::device_to_host);
    time += 200000;
    maker.call(CallKind::release, time - 1000, time + 50000);
    time += 50000;
  }
  maker.kernel(maker.call(CallKind::launch, time, time + 2000), time + 2000, time + 12000);
  EXPECT_FALSE(finds("host_waits", with_trace(maker.trace())));
  EXPECT_FALSE(finds("launch_bound", with_trace(maker.trace())));
}

// Three inputs come anew for each kernel: a step of its own each time.
TEST(HostWaitsTest, ForCopiesInEachStep) {
  TraceMaker maker;
  std::int64_t time = 0;
  for (int step = 0; step < 3; ++step) {
    for (int input = 0; input < 3; ++input) {
      maker.copy(maker.call(CallKind::copy, time, time + 200000), time, time + 200000, true);
      time += 200000;
    }
    maker.kernel(maker.call(CallKind::launch, time, time + 2000), time + 2000, time + 300000);
    time += 300000;
  }
  EXPECT_TRUE(finds("host_waits", with_trace(maker.trace())));
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
  for (std::int64_t start = 0; start < 400000; start += 100000) {
    maker.kernel(maker.call(CallKind::launch, start, start + 2000), start + 2000, start + 40000);
    maker.call(CallKind::allocate, start + 5000, start + 99000);
  }
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
