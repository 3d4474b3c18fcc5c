#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(MemoryFencesTest, ForAFenceInEachTurn) {
  const Finding finding = run_tool("memory_fences", with_memory_fences()).findings.at(0);
  EXPECT_NEAR(finding.predicted_gain, 1 / (1 - 0.7), 1e-9);
  EXPECT_EQ(finding.places.at(0).line, 50);
}

// A fence outside of loops waits as long, and is no pattern.
TEST(MemoryFencesTest, NotForOneAtTheEnd) {
  Profile profile = with_memory_fences();
  code_of(profile).patterns->clear();
  EXPECT_FALSE(finds("memory_fences", profile));
}

TEST(MemoryFencesTest, NotWhereDramIsBusyAnyhow) {
  Profile profile = with_memory_fences();
  set(profile, figure::dram_use, 0.75);
  EXPECT_FALSE(finds("memory_fences", profile));
}

TEST(MemoryFencesTest, ForLoadsThatGoPastL1) {
  Profile profile = healthy();
  set_pattern(profile, "fresh_load", 1e6, 1e6, 100);
  set_stalls(profile, {{"long_scoreboard", 0.6}});
  EXPECT_NEAR(gain_by("memory_fences", profile), 1 / (1 - 0.6 * 0.85), 1e-9);
}

TEST(MemoryFencesTest, WhatWaitsForThoseWhoPollIsItsOwn) {
  Profile profile = with_barrier_stalls();
  EXPECT_TRUE(finds("barrier_stalls", profile));
  EXPECT_FALSE(finds("memory_fences", profile));
  set_pattern(profile, "spin", 1e6, 2e6, 300);
  EXPECT_FALSE(finds("barrier_stalls", profile));
  EXPECT_TRUE(finds("memory_fences", profile));
  Profile queue = with_contended_atomics();
  set_pattern(queue, "spin", 1e6, 2e6, 5000);
  EXPECT_FALSE(finds("contended_atomics", queue));
}

// Volatile loads are narrow, one by one and ask L2 each time, because they may not be anything
// else.
TEST(MemoryFencesTest, LoadsPastL1AreItsOwn) {
  for (Profile profile : {with_narrow_loads(), with_long_scoreboard()}) {
    const char* other = code_of(profile).loops.empty() ? "narrow_loads" : "long_scoreboard";
    EXPECT_TRUE(finds(other, profile));
    set_pattern(profile, "fresh_load", 1e6, 1e6, 100);
    EXPECT_FALSE(finds(other, profile));
    EXPECT_TRUE(finds("memory_fences", profile));
  }
}

// One warp that polls for a moment does not keep the other seven of its block at their barriers.
TEST(MemoryFencesTest, BarriersWaitForThoseWhoPollAsLongAsTheyLook) {
  Profile profile = with_barrier_stalls();
  set_pattern(profile, "spin", 1e3, 2e3, 10);
  EXPECT_TRUE(finds("barrier_stalls", profile));
  EXPECT_FALSE(finds("memory_fences", profile));
  set_pattern(profile, "spin", 1e6, 2e6, 500);
  EXPECT_NEAR(run_tool("memory_fences", profile).findings.at(0).observed, 0.05 + 7 * 0.05, 1e-9);
}

TEST(MemoryFencesTest, TheLinesThatTakeMostStandFirstAndOnce) {
  Profile profile = with_memory_fences();
  auto& patterns = *code_of(profile).patterns;
  patterns["fence"] = {1e5, 2e5, 500, {{"kernel.cu", 50}, {"kernel.cu", 51}}};
  patterns["spin"] = {1e6, 2e6, 6000, {{"kernel.cu", 60}, {"kernel.cu", 50}}};
  set_stalls(profile, {{"long_scoreboard", 0.6}});
  const std::vector<SourcePlace> places = run_tool("memory_fences", profile).findings.at(0).places;
  ASSERT_EQ(places.size(), 3);
  EXPECT_EQ(places[0].line, 60);
  EXPECT_EQ(places[1].line, 50);
  EXPECT_EQ(places[2].line, 51);
}

}  // namespace
}  // namespace kernelpro
