#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(RepeatedLoadsTest, NamesTheLinesThatLoad) {
  const Finding finding = run_tool("repeated_loads", with_repeated_loads()).findings.at(0);
  EXPECT_EQ(finding.places.at(0).line, 51);
  EXPECT_GT(finding.predicted_gain, 1.3);
}

TEST(RepeatedLoadsTest, NotWhereALoadedWordServesManyInstructions) {
  Profile profile = with_repeated_loads();
  set(profile, figure::instructions, 1e9);
  EXPECT_FALSE(finds("repeated_loads", profile));
}

// Sectors that are used in part hit until all of it was; then other tools speak.
TEST(RepeatedLoadsTest, NotForHitsOfSectorsThatAreUsedInPart) {
  Profile profile = with_repeated_loads();
  code_of(profile).memory[0].ideal_sectors = 6e7;
  set(profile, figure::l1_load_hit_bytes, 1.92e9);
  EXPECT_FALSE(finds("repeated_loads", profile));
}

TEST(RepeatedLoadsTest, NotForGathersByAnIndex) {
  Profile profile = with_repeated_loads();
  code_of(profile).memory[0].ideal_sectors = 1.5e7;
  EXPECT_FALSE(finds("repeated_loads", profile));
}

TEST(RepeatedLoadsTest, ForAStateThatALoopUpdatesInMemory) {
  Profile profile = with_repeated_loads();
  set(profile, figure::instructions, 1e9);
  set_pattern(profile, "reload", 3e7, 3e7, 4000);
  EXPECT_TRUE(finds("repeated_loads", profile));
  EXPECT_FALSE(finds("long_scoreboard", profile));
  EXPECT_FALSE(finds("narrow_loads", profile));
}

TEST(RepeatedLoadsTest, FromL2OnlyWhereNoTaskSaysTheBytes) {
  Profile profile = healthy();
  set(profile, figure::dram_read_bytes, 1e9);
  set(profile, figure::l2_read_bytes, 3e9);
  set(profile, figure::l1_load_bytes, 3e9);
  set(profile, figure::dram_use, 0.4);
  set_stalls(profile, {{"long_scoreboard", 0.7}});
  EXPECT_TRUE(finds("repeated_loads", profile));
  profile.work = DeclaredWork{1e9, 1e9, 1e8, "f32", 1};
  EXPECT_FALSE(finds("repeated_loads", profile));
}

// What fits into L2 may have come from an earlier kernel.
TEST(RepeatedLoadsTest, NotFromL2ForSmallData) {
  Profile profile = healthy();
  set(profile, figure::dram_read_bytes, 1e6);
  set(profile, figure::l2_read_bytes, 3e9);
  set(profile, figure::l1_load_bytes, 3e9);
  set_stalls(profile, {{"long_scoreboard", 0.7}});
  EXPECT_FALSE(finds("repeated_loads", profile));
}

TEST(RepeatedLoadsTest, AStateInMemoryIsSaidAsSuch) {
  Profile profile = with_repeated_loads();
  set(profile, figure::instructions, 1e9);
  set(profile, figure::l1_load_hit_bytes, 1.7e9);
  set_pattern(profile, "reload", 1.5e7, 1.5e7, 4000);
  const Finding finding = run_tool("repeated_loads", profile).findings.at(0);
  EXPECT_THAT(finding.title, testing::HasSubstr("50 % of the loads ask for an address again"));
  EXPECT_GE(finding.observed, finding.threshold);
  EXPECT_EQ(finding.places.at(0).line, 50);
}

// A gather touches sectors in part, and a spill is read from L2 too.
TEST(RepeatedLoadsTest, NotFromL2ForGathersOrSpills) {
  Profile streams = healthy();
  set(streams, figure::dram_read_bytes, 1e9);
  set(streams, figure::l2_read_bytes, 3e9);
  set(streams, figure::l1_load_bytes, 3e9);
  set(streams, figure::dram_use, 0.4);
  set_stalls(streams, {{"long_scoreboard", 0.7}});
  EXPECT_TRUE(finds("repeated_loads", streams));
  Profile gathers = streams;
  code_of(gathers).memory[0].ideal_sectors = 4e6;  // of 16
  EXPECT_FALSE(finds("repeated_loads", gathers));
  Profile spills = streams;
  set(spills, figure::l1_load_bytes, 1e9);
  EXPECT_FALSE(finds("repeated_loads", spills));
}

}  // namespace
}  // namespace kernelpro
