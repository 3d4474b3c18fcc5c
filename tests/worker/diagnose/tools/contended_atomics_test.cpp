#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

Profile with_shared_atomics() {
  Profile profile = healthy();
  MemoryInstruction atomic = access(Space::shared, Access::atomic, 11);
  atomic.wavefronts = 20e6;
  code_of(profile).memory = {atomic};
  set_stalls(profile, {{"short_scoreboard", 0.6}});
  return profile;
}

TEST(ContendedAtomicsTest, NamesTheLineAndTheSlice) {
  const Finding finding = run_tool("contended_atomics", with_contended_atomics()).findings.at(0);
  EXPECT_EQ(finding.observed, 0.99);
  ASSERT_EQ(finding.places.size(), 1U);
  EXPECT_EQ(finding.places[0].line, 19);
  EXPECT_GT(finding.predicted_gain, 2);
}

TEST(ContendedAtomicsTest, NotWhenTheyAreSpread) {
  Profile profile = with_contended_atomics();
  set(profile, figure::atomic_use, 0.2);
  EXPECT_FALSE(finds("contended_atomics", profile));
}

// The busiest slice is full of them, and so are all others.
TEST(ContendedAtomicsTest, NotWhereAllSlicesAreAsBusy) {
  Profile profile = with_contended_atomics();
  set(profile, figure::reduction_sectors, 2e8);
  EXPECT_FALSE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, NotForAtomicsThatOnlyRead) {
  Profile profile = with_contended_atomics();
  code_of(profile).memory[0].access = Access::atomic;
  EXPECT_TRUE(finds("contended_atomics", profile));
  set_pattern(profile, "atomic_load", 1e6, 1e6, 100);
  EXPECT_FALSE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, NotWhenNobodyWaitsForThem) {
  Profile profile = with_contended_atomics();
  set(profile, figure::atomic_use, 0.4);
  set_stalls(profile, {{"math_pipe_throttle", 0.9}});
  EXPECT_FALSE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, NotWhenDramIsFullAnyway) {
  Profile profile = with_contended_atomics();
  set(profile, figure::atomic_use, 0.5);
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, InSharedMemoryByTheTurnsTheyTake) {
  const ToolResult result = run_tool("contended_atomics", with_shared_atomics());
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].title, HasSubstr("shared memory"));
}

TEST(ContendedAtomicsTest, NotForTheTurnsThatRandomWordsNeed) {
  Profile profile = with_shared_atomics();
  code_of(profile).memory[0].wavefronts = 3.3e6;
  EXPECT_FALSE(finds("contended_atomics", profile));
  code_of(profile).memory[0].wavefronts = 6e6;
  EXPECT_TRUE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, InSharedMemoryByThreadsThatTryAgain) {
  Profile profile = with_shared_atomics();
  code_of(profile).memory[0].wavefronts = 1e6;
  EXPECT_FALSE(finds("contended_atomics", profile));
  code_of(profile).memory[0].loop = 0;
  code_of(profile).memory[0].threads = 25e6;
  EXPECT_FALSE(finds("contended_atomics", profile));
  code_of(profile).memory[0].threads = 16.5e6;
  EXPECT_TRUE(finds("contended_atomics", profile));
}

TEST(ContendedAtomicsTest, NotInSharedMemoryWhereTheLineIsCold) {
  Profile profile = with_shared_atomics();
  code_of(profile).memory[0].place.line = 77;
  EXPECT_FALSE(finds("contended_atomics", profile));
  code_of(profile).memory[0].samples = 4000;
  EXPECT_TRUE(finds("contended_atomics", profile));
}

}  // namespace
}  // namespace kernelpro
