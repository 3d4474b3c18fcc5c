// The tools for processors: each sees its defect, is silent on a healthy loop, and says what it
// lacks.
#include "worker/diagnose/tools/host_tools.hpp"

#include <gtest/gtest.h>

#include "worker/diagnose/diagnose.hpp"

namespace kernelpro {
namespace {

// Packed, eight chains, nothing waits: one loop that takes all the time on two busy processors.
Profile healthy_loop() {
  HostLoop loop;
  loop.share = 0.95;
  loop.place = {"kernel.cpp", 12};
  loop.instructions = 20;
  loop.packed = 8;
  loop.vector_bits = 256;
  loop.element_bits = 32;
  loop.loads = 8;
  loop.reduction = true;
  loop.chain_cycles = 4.2;
  loop.unit_cycles = 4;
  loop.turns = 1e6;
  loop.cycles = 4.4;
  loop.accesses = 8e6;
  loop.first_misses = 1e3;
  loop.last_misses = 10;
  KernelProfile kernel;
  kernel.name = "kernel";
  kernel.loops = {loop};
  Profile profile;
  profile.host.emplace();
  profile.host->processors = 2;
  profile.host->samples = 400;
  profile.host->vector_bits = 512;
  profile.host->threads = {{200, 2}, {198, 4}};
  profile.kernels = {kernel};
  return profile;
}

HostLoop& loop_of(Profile& profile) {
  return profile.kernels.front().loops.front();
}

Profile with_defect(const std::string& tool) {
  Profile profile = healthy_loop();
  HostLoop& loop = loop_of(profile);
  if (tool == "not_vectorized") {
    loop.scalar = 8;
    loop.packed = 0;
    loop.vector_bits = 0;
  } else if (tool == "dependent_chain") {
    loop.chain_cycles = 4;
    loop.unit_cycles = 0.5;
  } else if (tool == "poor_locality") {
    loop.cycles = 40;
    loop.first_misses = 4e6;
    loop.accesses = 4e6;
  } else if (tool == "slow_math") {
    loop.divisions = 4;
    loop.chain_cycles = 4.2;
    loop.unit_cycles = 20;
    loop.cycles = 21;
    loop.product_chain_cycles = 4.2;
    loop.product_unit_cycles = 4;
  } else if (tool == "page_faults") {
    profile.host->period_ns = 1e6;
    profile.host->system_share = 0.4;
    profile.host->faults = 200'000;
    profile.host->resident_bytes = 10e6;
  } else {
    profile.host->threads = {{390, 10}, {10, 390}};
  }
  return profile;
}

std::vector<std::string> tools_in(const Profile& profile) {
  std::vector<std::string> out;
  for (const Finding& finding : diagnose(profile, {true, {}}).findings) {
    out.push_back(finding.tool);
  }
  return out;
}

TEST(HostTools, AHealthyLoopHasNoFindings) {
  EXPECT_EQ(tools_in(healthy_loop()), std::vector<std::string>());
}

TEST(HostTools, EachSeesItsOwnDefectAloneAndNamesMoves) {
  for (const Tool& tool : host_tools()) {
    const Profile profile = with_defect(tool.id);
    EXPECT_EQ(tools_in(profile), std::vector<std::string>{tool.id});
    const Finding finding = diagnose(profile, {true, {}}).findings.front();
    EXPECT_FALSE(finding.moves.empty()) << tool.id;
    EXPECT_GT(finding.predicted_gain, 1.1) << tool.id;
  }
}

TEST(HostTools, WhatWaitsForMemoryGainsNothingByVectors) {
  Profile profile = with_defect("not_vectorized");
  loop_of(profile).cycles = 400;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

TEST(HostTools, TurnsThatOverlapAreNoChain) {
  Profile profile = with_defect("dependent_chain");
  loop_of(profile).cycles = 1;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

TEST(HostTools, AChainBelowLongerWaitsIsNoneToBreak) {
  Profile profile = with_defect("dependent_chain");
  loop_of(profile).cycles = 22;  // as of a sum that waits for memory
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

// Most of a turn waits for data, and a product would wait as long.
TEST(HostTools, DivisionsBelowLongerWaitsHoldNothingUp) {
  Profile profile = with_defect("slow_math");
  loop_of(profile).cycles = 400;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

TEST(HostTools, MemoryThatIsTouchedOnceIsNotTakenAgain) {
  Profile profile = with_defect("page_faults");
  profile.host->resident_bytes = 4096.0 * 190'000;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

// Nobody counted how much came with each of them.
TEST(HostTools, LargePagesAreNotTakenForSmallOnes) {
  Profile profile = with_defect("page_faults");
  profile.host->faults = 6000;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

// What is called is not simulated: what the loop fetches tells memory from arithmetic.
TEST(HostTools, ALoopThatCallsMathematicsIsNotVectorized) {
  Profile profile = with_defect("not_vectorized");
  HostLoop& loop = loop_of(profile);
  loop.calls = {"expf@plt"};
  loop.chain_cycles = loop.unit_cycles = std::nullopt;
  loop.cycles = 40;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>{"not_vectorized"});
  loop.first_misses = 10 * *loop.turns;  // each turn fetches ten lines for it
  loop.accesses = 160 * *loop.turns;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

TEST(HostTools, ALoopThatCallsWhatCannotBePartOfItIsLeftAlone) {
  Profile profile = with_defect("not_vectorized");
  HostLoop& loop = loop_of(profile);
  loop.chain_cycles = loop.unit_cycles = std::nullopt;
  loop.calls = {"malloc@plt"};
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
  loop.calls = {"scaled(float)"};
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
  profile.kernels.emplace_back().name = "scaled(float)";
  EXPECT_EQ(tools_in(profile), std::vector<std::string>{"not_vectorized"});
}

// What runs beside a serial program, only its user knows; a task says how many threads there are.
TEST(HostTools, OneThreadIsIdleProcessorsOnlyWhereATaskGivesMore) {
  Profile profile = healthy_loop();
  profile.host->threads = {{400, 0}};
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
  profile.work.emplace();
  EXPECT_EQ(tools_in(profile), std::vector<std::string>{"idle_threads"});
}

TEST(HostTools, ARecurrenceOfOneThreadIsNotToldToShare) {
  Profile profile = healthy_loop();
  profile.host->threads = {{400, 0}};
  profile.work.emplace();
  loop_of(profile).reduction = false;
  loop_of(profile).recurrence = true;
  EXPECT_EQ(tools_in(profile), std::vector<std::string>());
}

TEST(HostTools, WithoutCountsAndSimulationsEachSaysWhatItLacks) {
  Profile profile = with_defect("not_vectorized");
  HostLoop& loop = loop_of(profile);
  loop.chain_cycles = loop.unit_cycles = loop.turns = loop.cycles = std::nullopt;
  loop.accesses = loop.first_misses = loop.last_misses = std::nullopt;
  const DiagnosisReport report = diagnose(profile);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.kernels.front().not_available,
            (std::vector<std::string>{
                "not_vectorized: no turns of the loop were counted, so memory cannot be told from "
                "arithmetic",
                "dependent_chain: llvm-mca did not simulate the loop",
                "poor_locality: no accesses of the loop were counted (callgrind)"}));
}

}  // namespace
}  // namespace kernelpro
