#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(LongScoreboardTest, EightLoadsInFlightLeaveAnEighthOfTheWait) {
  const Finding finding = run_tool("long_scoreboard", with_long_scoreboard()).findings.at(0);
  EXPECT_EQ(finding.observed, 1);
  // 2 us of the kernel's millisecond are its start and end.
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.998 * 0.8 * 7 / 8), 1e-9);
  EXPECT_EQ(finding.moves[0], "unroll_loops");
}

TEST(LongScoreboardTest, AKernelOfTwoMicrosecondsIsAllStartAndEnd) {
  Profile profile = with_long_scoreboard();
  set(profile, figure::duration_ns, 2200);
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, AnUnrolledLoopIsNone) {
  Profile profile = with_long_scoreboard();
  code_of(profile).loops[0].loads_in_flight = 2;
  EXPECT_TRUE(finds("long_scoreboard", profile));
  code_of(profile).loops[0].loads_in_flight = 3;
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, TheLoopThatLoadsMostDecides) {
  Profile profile = with_long_scoreboard();
  code_of(profile).loops.push_back(loop_with(8, 8, 5e6));
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, AThreadThatLoadsOnceWithoutALoop) {
  Profile profile = with_long_scoreboard();
  code_of(profile).loops.clear();
  code_of(profile).memory[0].loop = -1;
  EXPECT_TRUE(finds("long_scoreboard", profile));
  for (int i = 0; i < 3; ++i) {
    code_of(profile).memory.push_back(wide_load(30 + i));
  }
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, NotWhenMemoryIsFull) {
  for (const char* roof : {figure::dram_use, figure::l1_use}) {
    Profile profile = with_long_scoreboard();
    set(profile, roof, 0.9);
    EXPECT_FALSE(finds("long_scoreboard", profile)) << roof;
  }
}

TEST(LongScoreboardTest, NotWhenTheGridLeavesTheGpuEmpty) {
  Profile profile = with_long_scoreboard();
  set(profile, figure::sm_active_mean, 0.3 * 1.95e6);
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, NotForWaitsOnLocalMemoryAndAtomics) {
  Profile profile = with_long_scoreboard();
  MemoryInstruction spill = access(Space::local, Access::load, 50);
  spill.executed = 10e6;
  MemoryInstruction atomic = access(Space::global, Access::atomic, 51);
  atomic.executed = 10e6;
  code_of(profile).memory.push_back(spill);
  code_of(profile).memory.push_back(atomic);
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, NotForLoadsThatAskForManySectorsAlready) {
  Profile profile = with_long_scoreboard();
  code_of(profile).memory[0].sectors = 48e6;
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, IndicesThatAreLoadedAlongHardlyCount) {
  Profile profile = with_long_scoreboard();
  MemoryInstruction index = access(Space::global, Access::load, 17);
  index.loop = 0;
  index.sectors = index.ideal_sectors = 1e6;
  code_of(profile).memory.push_back(code_of(profile).memory[0]);
  code_of(profile).memory.push_back(index);
  code_of(profile).memory.push_back(index);
  code_of(profile).loops = {loop_with(4, 4, 1e6)};
  EXPECT_TRUE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, NotWhereAtomicsAreWhatAllWaitFor) {
  Profile profile = with_long_scoreboard();
  set(profile, figure::atomic_use, 0.34);
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

TEST(LongScoreboardTest, NotForKernelsThatLoadNothing) {
  Profile profile = with_long_scoreboard();
  code_of(profile).memory.clear();
  code_of(profile).loops.clear();
  EXPECT_FALSE(finds("long_scoreboard", profile));
}

}  // namespace
}  // namespace kernelpro
