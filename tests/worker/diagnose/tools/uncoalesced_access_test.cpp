#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(UncoalescedAccessTest, NamesTheLineWithTheExcess) {
  Profile profile = with_uncoalesced_access();
  code_of(profile).memory.push_back(wide_load(10));
  const Finding finding = run_tool("uncoalesced_access", profile).findings.at(0);
  ASSERT_EQ(finding.places.size(), 1U);
  EXPECT_EQ(finding.places[0].line, 12);
  EXPECT_NEAR(finding.observed, 48.0 / 20, 1e-9);
  EXPECT_EQ(finding.unit, "times the sectors needed");
}

TEST(UncoalescedAccessTest, MoreExcessPromisesMore) {
  double last = 1;
  for (const double sectors : {8e6, 16e6, 32e6}) {
    Profile profile = with_uncoalesced_access();
    code_of(profile).memory[0].sectors = sectors;
    const double gain = gain_by("uncoalesced_access", profile);
    EXPECT_GT(gain, last);
    last = gain;
  }
}

TEST(UncoalescedAccessTest, StoresCountToo) {
  Profile profile = with_uncoalesced_access();
  code_of(profile).memory[0].access = Access::store;
  set_stalls(profile, {{"drain", 0.8}});
  EXPECT_TRUE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, ABroadcastNeedsFewerSectorsThanItsBytesAndHidesNothing) {
  Profile profile = with_uncoalesced_access();
  MemoryInstruction broadcast = access(Space::global, Access::load, 50);
  broadcast.sectors = 1e6;
  code_of(profile).memory.push_back(broadcast);
  EXPECT_TRUE(finds("uncoalesced_access", profile));
  code_of(profile).memory = {broadcast};
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, NotWhereNobodyWaitsForMemory) {
  Profile profile = with_uncoalesced_access();
  set_stalls(profile, {{"math_pipe_throttle", 0.7}, {"long_scoreboard", 0.05}});
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, NotWhereCachesAbsorbItAndDramIsFullAnyway) {
  Profile profile = with_uncoalesced_access();
  set(profile, figure::dram_use, 0.88);
  set(profile, figure::dram_read_bytes, 4e6 * 32);
  set(profile, figure::dram_write_bytes, 0);
  EXPECT_FALSE(finds("uncoalesced_access", profile));
  // The same full DRAM, but full of what nobody asked for.
  set(profile, figure::dram_read_bytes, 32e6 * 32);
  EXPECT_TRUE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, AMisalignedRowIsNone) {
  Profile profile = with_uncoalesced_access();
  code_of(profile).memory[0].sectors = 5e6;  // one sector in five
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, NotForTheWaitsOfLocalMemory) {
  Profile profile = with_uncoalesced_access();
  code_of(profile).memory[0].executed = 1e4;
  code_of(profile).memory[0].sectors = 32e4;
  code_of(profile).memory[0].ideal_sectors = 4e4;
  MemoryInstruction spill = access(Space::local, Access::load, 60);
  spill.executed = 5e6;
  code_of(profile).memory.push_back(spill);
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, InstructionsWithoutSectorsAreSaid) {
  Profile profile = with_uncoalesced_access();
  code_of(profile).memory[0].sectors.reset();
  const ToolResult result = run_tool("uncoalesced_access", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.not_available, testing::Contains(HasSubstr("no sectors")));
}

// ncu counts half as much again for these.
TEST(UncoalescedAccessTest, NotForAlignedAsynchronousCopies) {
  Profile profile = with_uncoalesced_access();
  MemoryInstruction& copy = code_of(profile).memory[0];
  copy.access = Access::async_copy;
  copy.bits = 128;
  copy.ideal_sectors = 16e6;
  copy.sectors = 24e6;
  EXPECT_FALSE(finds("uncoalesced_access", profile));
  copy.sectors = 96e6;
  EXPECT_TRUE(finds("uncoalesced_access", profile));
}

TEST(UncoalescedAccessTest, NotForScatteredStoresBesideAFullSharedMemory) {
  Profile profile = with_uncoalesced_access();
  MemoryInstruction shared = access(Space::shared, Access::load, 30);
  shared.wavefronts = shared.ideal_wavefronts = shared.executed = 200e6;
  code_of(profile).memory.push_back(shared);
  set_stalls(profile, {{"short_scoreboard", 0.6}, {"mio_throttle", 0.2}});
  set(profile, figure::l1_use, 0.9);
  set(profile, figure::dram_use, 0.1);
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

}  // namespace
}  // namespace kernelpro
