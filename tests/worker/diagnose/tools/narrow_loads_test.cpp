#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(NarrowLoadsTest, SaysHowNarrowAndWhere) {
  const Finding finding = run_tool("narrow_loads", with_narrow_loads()).findings.at(0);
  EXPECT_EQ(finding.observed, 32);
  ASSERT_EQ(finding.places.size(), 1U);
  EXPECT_EQ(finding.places[0].line, 13);
}

TEST(NarrowLoadsTest, ByteLoadsPromiseMore) {
  Profile bytes = with_narrow_loads();
  set(bytes, figure::dram_use, 0.1);
  Profile words = bytes;
  code_of(bytes).memory[0].bits = 8;
  code_of(bytes).memory[0].sectors = 1e6;
  EXPECT_GT(gain_by("narrow_loads", bytes), gain_by("narrow_loads", words));
}

TEST(NarrowLoadsTest, NotWhenDramIsFull) {
  Profile profile = with_narrow_loads();
  set(profile, figure::dram_use, 0.87);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, FullIsWhatWasMeasuredOnTheDevice) {
  Profile profile = with_narrow_loads();
  set(profile, figure::dram_read_bytes, 2e8);
  set(profile, figure::dram_write_bytes, 2e8);  // 4 TB/s
  profile.ceilings.list.push_back({"copy", "GB/s", 0, 4200, 4150, 4205});
  EXPECT_FALSE(finds("narrow_loads", profile));
  set(profile, figure::dram_read_bytes, 1e8);
  set(profile, figure::dram_write_bytes, 1e8);
  EXPECT_TRUE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotWhenArithmeticIsTheLimit) {
  Profile profile = with_narrow_loads();
  set_stalls(profile, {{"math_pipe_throttle", 0.6}, {"long_scoreboard", 0.1}});
  set(profile, figure::fma_use, 0.9);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotForWideLoads) {
  Profile profile = with_narrow_loads();
  code_of(profile).memory = {wide_load(10)};
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, EightBytesLeaveAFactorOfTwo) {
  Profile profile = with_narrow_loads();
  set(profile, figure::dram_use, 0.1);
  const double four_bytes = gain_by("narrow_loads", profile);
  code_of(profile).memory[0].bits = 64;
  code_of(profile).memory[0].sectors = code_of(profile).memory[0].ideal_sectors = 8e6;
  EXPECT_GT(gain_by("narrow_loads", profile), 1.5);
  EXPECT_LT(gain_by("narrow_loads", profile), 2);
  EXPECT_LT(gain_by("narrow_loads", profile), four_bytes);
}

TEST(NarrowLoadsTest, NotForGathersAndBroadcastsWhichCannotBeWidened) {
  Profile gather = with_narrow_loads();
  code_of(gather).memory[0].sectors = 32e6;
  EXPECT_FALSE(finds("narrow_loads", gather));
  Profile broadcast = with_narrow_loads();
  code_of(broadcast).memory[0].sectors = 1e6;
  EXPECT_FALSE(finds("narrow_loads", broadcast));
}

// The kernel's time in which its warps wait `wait_ns` for each of a million loads.
void set_wait(Profile& profile, double wait_ns, double waiting) {
  constexpr double loads = 1e6;
  constexpr double warps = 0.9 * 64 * 132;  // of a healthy profile
  constexpr double active = 1.9 / 2;
  set_stalls(profile, {{"long_scoreboard", waiting}});
  set(profile, figure::duration_ns, wait_ns * loads / (waiting * warps * active));
}

TEST(NarrowLoadsTest, ReachesWhatWasMeasuredOfDram) {
  Profile profile = with_narrow_loads();
  set_wait(profile, 600, 0.9);
  const double duration = *profile.kernels[0].figure(figure::duration_ns);
  profile.ceilings.list.push_back({"read", "GB/s", 0, 4600, 4590, 4600});
  set(profile, figure::dram_write_bytes, 0);
  const double active = 1.95 / 2;  // until the last multiprocessor is done
  set(profile, figure::dram_read_bytes, 0.8 * 4600 * duration * active);
  EXPECT_NEAR(gain_by("narrow_loads", profile), 1 / 0.8, 0.005);
  set(profile, figure::dram_read_bytes, 0.95 * 4600 * duration * active);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotForLoadsThatWaitInAQueue) {
  Profile answered = with_narrow_loads();
  set_wait(answered, 700, 0.8);
  EXPECT_TRUE(finds("narrow_loads", answered));
  Profile queued = with_narrow_loads();
  set_wait(queued, 1600, 0.8);
  EXPECT_FALSE(finds("narrow_loads", queued));
}

TEST(NarrowLoadsTest, SeveralLoadsUnderWayAtOnceWaitOnce) {
  Profile profile = with_narrow_loads();
  for (int i = 0; i < 3; ++i) {
    code_of(profile).memory.push_back(access(Space::global, Access::load, 60 + i));
  }
  // Four million loads, each warp waits once for four of them.
  set_wait(profile, 600, 0.8);
  EXPECT_TRUE(finds("narrow_loads", profile));
  set_wait(profile, 1600, 0.8);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotWhereMoreElementsAThreadCostThreads) {
  Profile profile = with_narrow_loads();
  set(profile, figure::limit_registers, 6);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, SeesPairsThatAreLoadedByTheirParts) {
  Profile profile = with_narrow_loads();
  MemoryInstruction part = access(Space::global, Access::load, 13);
  part.sectors = 8e6;  // each touches the sectors of both
  code_of(profile).memory = {part, part};
  set_wait(profile, 600, 0.8);
  EXPECT_TRUE(finds("narrow_loads", profile));
  // With a stride, and nothing else that needs the sectors between.
  set(profile, figure::l1_hit_rate, 0.1);
  EXPECT_FALSE(finds("narrow_loads", profile));
  set(profile, figure::l1_hit_rate, 0.5);
  code_of(profile).memory = {part};
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, AFullQueueIsOfStoresAsWell) {
  Profile profile = with_narrow_loads();
  set_stalls(profile, {{"lg_throttle", 0.4}});
  EXPECT_TRUE(finds("narrow_loads", profile));
  code_of(profile).memory[1].sectors = 32e6;
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, LacksWhatTheGpuHolds) {
  Profile profile = with_narrow_loads();
  profile.limits.clear();
  EXPECT_THAT(run_tool("narrow_loads", profile).not_available,
              testing::Contains(testing::HasSubstr("how many warps the GPU has")));
}

TEST(NarrowLoadsTest, WhatAllThreadsLoadAlikeIsSavedAlong) {
  Profile profile = with_narrow_loads();
  set(profile, figure::dram_use, 0.1);
  code_of(profile).memory[0].bits = 16;
  code_of(profile).memory[0].sectors = 2e6;
  const double alone = gain_by("narrow_loads", profile);
  MemoryInstruction index = access(Space::global, Access::load, 12);
  index.sectors = index.ideal_sectors = 1e6;
  code_of(profile).memory.push_back(index);
  EXPECT_GT(gain_by("narrow_loads", profile), 2);
  EXPECT_LE(gain_by("narrow_loads", profile), alone);
}

TEST(NarrowLoadsTest, NotForIndicesBesideAGatherThatTakesTheTime) {
  Profile profile = with_narrow_loads();
  MemoryInstruction gather = access(Space::global, Access::load, 12);
  gather.sectors = 32e6;
  code_of(profile).memory.push_back(gather);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotForAFewNarrowLoadsBesideWideOnes) {
  Profile profile = with_narrow_loads();
  code_of(profile).memory.push_back(wide_load(10));
  code_of(profile).memory.push_back(wide_load(11));
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotWhenTheGridLeavesTheGpuEmpty) {
  Profile profile = with_narrow_loads();
  set(profile, figure::sm_active_mean, 0.3 * 1.95e6);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, NotWhenWarpsWaitForSpillsMoreThanForLoads) {
  Profile profile = with_narrow_loads();
  MemoryInstruction spill = access(Space::local, Access::load, 50);
  spill.executed = 1.1e6;
  code_of(profile).memory.push_back(spill);
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(NarrowLoadsTest, ConstantsAreNoLoadsFromMemory) {
  Profile profile = with_narrow_loads();
  const double gain = gain_by("narrow_loads", profile);
  MemoryInstruction constant = access(Space::constant, Access::load, 50);
  constant.executed = 20e6;
  code_of(profile).memory.push_back(constant);
  EXPECT_EQ(gain_by("narrow_loads", profile), gain);
}

TEST(NarrowLoadsTest, AsynchronousCopiesCount) {
  Profile profile = with_narrow_loads();
  code_of(profile).memory[0].access = Access::async_copy;
  EXPECT_TRUE(finds("narrow_loads", profile));
}

}  // namespace
}  // namespace kernelpro
