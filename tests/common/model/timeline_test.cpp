// Sums of a trace, on traces small enough to add up by hand.
#include "common/model/timeline.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TracedLaunch launch(std::int64_t index, std::string name, std::int64_t start, std::int64_t end) {
  TracedLaunch out;
  out.index = index;
  out.name = std::move(name);
  out.correlation = static_cast<std::uint32_t>(index + 1);
  out.start_ns = start;
  out.end_ns = end;
  return out;
}

TracedCall call(CallKind kind, std::int64_t start, std::int64_t end,
                std::uint32_t correlation = 0) {
  TracedCall out;
  out.kind = kind;
  out.correlation = correlation;
  out.start_ns = start;
  out.end_ns = end;
  return out;
}

TracedCopy copy(CopyKind kind, std::int64_t bytes, std::int64_t start, std::int64_t end) {
  TracedCopy out;
  out.kind = kind;
  out.bytes = bytes;
  out.start_ns = start;
  out.end_ns = end;
  return out;
}

std::vector<std::string> names(const std::vector<KernelSum>& kernels) {
  std::vector<std::string> out;
  for (const KernelSum& kernel : kernels) {
    out.push_back(kernel.name);
  }
  return out;
}

TEST(TimelineTest, BusyIsTheUnionOfAllThatTheGpuDoes) {
  Trace trace;
  trace.end_ns = 1000;
  trace.launches = {launch(0, "a", 100, 300), launch(1, "b", 200, 400)};
  trace.copies = {copy(CopyKind::host_to_device, 64, 350, 500)};
  trace.fills = {{.bytes = 8, .start_ns = 700, .end_ns = 800}};
  const Timeline sums = make_timeline(trace);
  EXPECT_EQ(sums.span_ns, 1000);
  EXPECT_EQ(sums.busy_ns, 500);
  EXPECT_EQ(sums.idle_ns, 500);
  EXPECT_EQ(sums.kernel_ns, 400);
  ASSERT_THAT(sums.gaps, SizeIs(3));
  EXPECT_EQ(sums.gaps[0].start_ns, 0);
  EXPECT_EQ(sums.gaps[0].end_ns, 100);
  EXPECT_EQ(sums.gaps[1].start_ns, 500);
  EXPECT_EQ(sums.gaps[1].end_ns, 700);
  EXPECT_EQ(sums.gaps[2].end_ns, 1000);
}

TEST(TimelineTest, AGapIsNamedAfterWhatTheHostDidMostOfIt) {
  Trace trace;
  trace.end_ns = 600;
  for (std::int64_t i = 0; i < 6; ++i) {
    trace.launches.push_back(launch(i, "k", i * 100 + 90, i * 100 + 100));
  }
  // The last gap has three calls, none of which is most of it.
  trace.calls = {call(CallKind::launch, 0, 80),        call(CallKind::synchronize, 95, 180),
                 call(CallKind::copy, 210, 280),       call(CallKind::allocate, 300, 340),
                 call(CallKind::release, 340, 380),    call(CallKind::other, 400, 490),
                 call(CallKind::launch, 500, 520),     call(CallKind::synchronize, 520, 540),
                 call(CallKind::synchronize, 520, 540)};
  std::vector<HostWork> host;
  for (const Gap& gap : make_timeline(trace).gaps) {
    host.push_back(gap.host);
  }
  EXPECT_THAT(host, ElementsAre(HostWork::launching, HostWork::synchronizing, HostWork::copying,
                                HostWork::allocating, HostWork::elsewhere, HostWork::elsewhere));
}

TEST(TimelineTest, OneLongWaitExplainsEveryGapInIt) {
  Trace trace;
  trace.end_ns = 1000;
  trace.launches = {launch(0, "k", 100, 200), launch(1, "k", 300, 400), launch(2, "k", 500, 1000)};
  trace.calls = {call(CallKind::synchronize, 0, 1000)};
  for (const Gap& gap : make_timeline(trace).gaps) {
    EXPECT_EQ(gap.host, HostWork::synchronizing) << gap.start_ns;
  }
}

TEST(TimelineTest, AKernelIsRepresentedByItsMedianLaunch) {
  Trace trace;
  trace.end_ns = 10'000;
  trace.launches = {launch(7, "warm-up", 0, 10), launch(8, "k", 100, 1100),
                    launch(9, "k", 1200, 1300), launch(10, "k", 1400, 1520),
                    launch(11, "k", 1600, 1710)};
  const Timeline sums = make_timeline(trace);
  ASSERT_THAT(names(sums.kernels), ElementsAre("k", "warm-up"));
  const KernelSum& k = sums.kernels[0];
  EXPECT_EQ(k.count, 4);
  EXPECT_EQ(k.total_ns, 1330);
  EXPECT_EQ(k.median_ns, 110);
  EXPECT_EQ(k.launch, 11);
  EXPECT_EQ(k.typical, 4U);
  EXPECT_DOUBLE_EQ(k.share, 1330.0 / 1340.0);
}

TEST(TimelineTest, OneNameCanBeSeveralKernels) {
  Trace trace;
  trace.end_ns = 1000;
  trace.launches = {launch(0, "k", 0, 100), launch(1, "k", 100, 300), launch(2, "k", 300, 600),
                    launch(3, "k", 600, 1000), launch(4, "k", 600, 601)};
  trace.launches[1].module = "aa";
  trace.launches[2].registers = 40;
  trace.launches[3].static_shared_bytes = 1024;
  const Timeline sums = make_timeline(trace);
  ASSERT_THAT(sums.kernels, SizeIs(4));
  EXPECT_EQ(sums.kernels[0].static_shared_bytes, 1024);
  EXPECT_EQ(sums.kernels[1].registers, 40);
  EXPECT_EQ(sums.kernels[2].module, "aa");
  EXPECT_EQ(sums.kernels[3].count, 2);
}

TEST(TimelineTest, CopiesAreSummedByKind) {
  Trace trace;
  trace.end_ns = 1000;
  trace.copies = {
      copy(CopyKind::host_to_device, 10, 0, 10), copy(CopyKind::host_to_device, 20, 20, 50),
      copy(CopyKind::device_to_host, 5, 100, 200), copy(CopyKind::host_to_device, 7, 60, 61)};
  trace.copies[3].pageable = true;
  const Timeline sums = make_timeline(trace);
  ASSERT_THAT(sums.copies, SizeIs(3));
  EXPECT_EQ(sums.copies[0].kind, CopyKind::device_to_host);
  EXPECT_EQ(sums.copies[1].bytes, 30);
  EXPECT_EQ(sums.copies[1].count, 2);
  EXPECT_EQ(sums.copies[1].total_ns, 40);
  EXPECT_TRUE(sums.copies[2].pageable);
}

TEST(TimelineTest, CallsAreCountedAndTheirMediansTaken) {
  Trace trace;
  trace.end_ns = 10'000;
  trace.launches = {launch(0, "k", 500, 600), launch(1, "k", 700, 800), launch(2, "k", 90, 95)};
  trace.calls = {call(CallKind::launch, 0, 10, 1),     call(CallKind::launch, 20, 50, 2),
                 call(CallKind::launch, 60, 100, 3),   call(CallKind::synchronize, 100, 900),
                 call(CallKind::allocate, 1000, 1100), call(CallKind::release, 1100, 1101)};
  const Timeline sums = make_timeline(trace);
  EXPECT_EQ(sums.launching.count, 3);
  EXPECT_EQ(sums.synchronizing.count, 1);
  EXPECT_EQ(sums.synchronizing.total_ns, 800);
  EXPECT_EQ(sums.allocating.total_ns, 101);
  EXPECT_EQ(sums.median_launch_ns, 30);
  // 490, 650, and 0 for the kernel that began before its call returned.
  EXPECT_EQ(sums.median_queue_ns, 490);
}

TEST(TimelineTest, WhatIsNotKnownIsAbsent) {
  Trace trace;
  trace.end_ns = 100;
  trace.launches = {launch(0, "k", 0, 10)};
  const Timeline sums = make_timeline(trace);
  EXPECT_FALSE(sums.median_launch_ns);
  EXPECT_FALSE(sums.median_queue_ns);
  EXPECT_THAT(make_timeline(Trace()).gaps, IsEmpty());
}

TEST(TimelineTest, RecordsOutsideThePartOrOfNegativeLengthDoNoHarm) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  Trace trace;
  trace.end_ns = 100;
  trace.launches = {launch(0, "k", least, most), launch(1, "k", 50, 20),
                    launch(2, "k", most, least), launch(3, "", 200, 300)};
  trace.calls = {call(CallKind::launch, least, most, 1), call(CallKind::synchronize, most, least)};
  trace.copies = {copy(CopyKind::other, least, 10, 20), copy(CopyKind::other, most, 10, 20),
                  copy(CopyKind::other, most, 10, 20)};
  const Timeline sums = make_timeline(trace);
  EXPECT_EQ(sums.busy_ns, 100);
  EXPECT_THAT(sums.gaps, IsEmpty());
  EXPECT_EQ(sums.kernels[0].total_ns, 100);
  EXPECT_EQ(sums.copies[0].bytes, most);
}

TEST(TimelineTest, GapsAndBusyTimeAlwaysFillTheSpan) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Trace trace;
    trace.end_ns = static_cast<std::int64_t>(random() % 1000);
    const auto at = [&] { return static_cast<std::int64_t>(random() % 1400) - 200; };
    for (std::uint64_t i = random() % 20; i > 0; --i) {
      trace.launches.push_back(launch(static_cast<std::int64_t>(i), "k", at(), at()));
      trace.calls.push_back(call(static_cast<CallKind>(random() % 7), at(), at()));
    }
    const Timeline sums = make_timeline(trace);
    std::int64_t idle = 0;
    for (const Gap& gap : sums.gaps) {
      EXPECT_LT(gap.start_ns, gap.end_ns);
      idle += gap.end_ns - gap.start_ns;
    }
    EXPECT_EQ(idle, sums.idle_ns);
    EXPECT_EQ(sums.idle_ns + sums.busy_ns, sums.span_ns);
  }
}

}  // namespace
}  // namespace kernelpro
