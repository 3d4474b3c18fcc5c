// Kernels that are as good as they can be, and look like a defect to a simple rule: no tool has
// anything to say of them. Amounts are such as the kernels of their kind show on an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

void expect_silence(const Profile& profile) {
  for (const Tool& tool : all_tools()) {
    if (tool.reads_program()) {
      continue;
    }
    for (const Finding& finding : run_tool(tool.id, profile).findings) {
      ADD_FAILURE() << tool.id << ": " << finding.title << "; " << finding.derivation;
    }
  }
}

void set_all(Profile& profile, const std::map<const char*, double>& figures) {
  for (const auto& [key, value] : figures) {
    set(profile, key, value);
  }
}

// One block of 384 threads a multiprocessor, all registers taken: one thread of a warp loads tiles
// by TMA, two groups of warps multiply them.
Profile product_by_warp_groups() {
  Profile profile = healthy();
  profile.kernels.front().grid = {132, 1, 1};
  profile.kernels.front().block = {384, 1, 1};
  code_of(profile).mix = {{"hgmma", 1e6},   {"tma_load", 1e4}, {"mbarrier", 1e6},
                          {"integer", 3e6}, {"branch", 1e6},   {"store_shared", 1e5}};
  code_of(profile).memory = {access(Space::shared, Access::store, 30)};
  code_of(profile).loops.clear();
  set_pattern(profile, "divergent", 0, 1.2e6, 800);
  set_all(profile, {{figure::tensor_use, 0.74},
                    {figure::active_threads, 27},
                    {figure::l1_use, 0.6},
                    {figure::l2_use, 0.4},
                    {figure::instructions, 8e6},
                    {figure::occupancy, 0.18},
                    {figure::theoretical_occupancy, 0.19},
                    {figure::eligible_warps, 0.1},
                    {figure::limit_registers, 1},
                    {figure::limit_shared, 1},
                    {figure::limit_warps, 5},
                    {figure::waves, 1}});
  set_stalls(profile, {{"gmma", 0.45}, {"long_scoreboard", 0.2}, {"barrier", 0.1}});
  return profile;
}

TEST(HonestKernels, AProductByWarpGroups) {
  expect_silence(product_by_warp_groups());
}

// The same with an exponential of each score: in its short form, by the special function unit.
TEST(HonestKernels, AttentionThatKeepsItsScoresOnTheChip) {
  Profile profile = product_by_warp_groups();
  code_of(profile).mix["special"] = 2e6;
  code_of(profile).mix["fp32"] = 3e7;
  code_of(profile).mix["shuffle"] = 2e5;
  set_all(profile, {{figure::tensor_use, 0.55},
                    {figure::special_use, 0.6},
                    {figure::fma_use, 0.35},
                    {figure::issue_use, 0.5},
                    {figure::instructions, 5e7}});
  set_stalls(profile, {{"gmma", 0.3}, {"wait", 0.25}, {"math_pipe_throttle", 0.1}});
  expect_silence(profile);
}

// Sums of exponentials in their long form where the special function unit is full: a short form
// asks it as often.
TEST(HonestKernels, ExponentialsWhereTheirUnitIsFull) {
  Profile profile = healthy();
  code_of(profile).mix["special"] = 1.19e8;
  set_pattern(profile, "function", 6e7, 2.5e7, 1000);
  set(profile, figure::special_use, 0.93);
  set(profile, figure::issue_use, 0.85);
  set_stalls(profile, {{"mio_throttle", 0.4}, {"short_scoreboard", 0.2}, {"wait", 0.2}});
  expect_silence(profile);
  // Half of what fills it are checks of divisions, which go.
  code_of(profile).mix["special"] = 0.6e8;
  EXPECT_TRUE(finds("slow_arithmetic", profile));
}

// 256 counters a block, added to those of all at the end; 32 threads at random words need some
// turns.
TEST(HonestKernels, AHistogramWithCountersOfItsOwn) {
  Profile profile = healthy();
  MemoryInstruction count = access(Space::shared, Access::reduction, 31);
  count.executed = 1.6e7;
  count.threads = 32 * 1.6e7;
  count.wavefronts = 3.4 * 1.6e7;
  count.ideal_wavefronts = 1.6e7;
  count.samples = 4000;
  MemoryInstruction merge = access(Space::global, Access::reduction, 32);
  merge.executed = 8448;
  merge.threads = 32 * 8448.0;
  merge.sectors = merge.ideal_sectors = 4 * 8448.0;
  code_of(profile).memory = {wide_load(10), count, merge};
  set_all(profile, {{figure::l1_use, 0.75},
                    {figure::lsu_use, 0.3},
                    {figure::atomic_use, 0.2},
                    {figure::reduction_sectors, 33792},
                    {figure::dram_use, 0.5}});
  set_stalls(profile, {{"mio_throttle", 0.2}, {"short_scoreboard", 0.2}, {"long_scoreboard", 0.3}});
  expect_silence(profile);
}

// A warp a row: its first lane alone stores, and the rows stream.
TEST(HonestKernels, SumsOfRowsByWarps) {
  Profile profile = healthy();
  set_pattern(profile, "divergent", 0, 2e6, 300);
  set_all(profile, {{figure::active_threads, 31.2}, {figure::dram_use, 0.86}});
  set_stalls(profile, {{"long_scoreboard", 0.85}});
  expect_silence(profile);
}

// As many blocks as fit, each takes tiles from a counter until none is left.
TEST(HonestKernels, BlocksThatTakeTilesFromACounter) {
  Profile profile = healthy();
  profile.kernels.front().grid = {528, 1, 1};
  MemoryInstruction next = access(Space::global, Access::atomic, 12);
  next.executed = 1e5;
  next.threads = 1e5;
  next.sectors = next.ideal_sectors = 1e5;
  next.loop = 0;
  code_of(profile).memory.push_back(next);
  set_pattern(profile, "divergent", 0, 1e6, 50);
  set_all(profile, {{figure::waves, 1},
                    {figure::occupancy, 0.49},
                    {figure::theoretical_occupancy, 0.5},
                    {figure::limit_registers, 4},
                    {figure::atomic_use, 0.1},
                    {figure::atomic_sectors, 1e5},
                    {figure::fma_use, 0.7},
                    {figure::issue_use, 0.75}});
  set_stalls(profile, {{"wait", 0.3}, {"not_selected", 0.25}, {"barrier", 0.1}});
  expect_silence(profile);
}

// Single values come in, and are compared on their way; what is computed and stored is double.
TEST(HonestKernels, DoubleThatIsAskedFor) {
  Profile profile = with_accidental_double();
  code_of(profile).mix["fp64"] = 6e7;
  code_of(profile).fp64_conversions = 1e7;
  code_of(profile).memory[1].bits = 64;
  code_of(profile).memory[1].sectors = code_of(profile).memory[1].ideal_sectors = 8e6;
  EXPECT_FALSE(finds("accidental_double", profile));
  code_of(profile).fp64_conversions = 2e7;  // what is compared goes back as well
  EXPECT_TRUE(finds("accidental_double", profile));
}

// Keys go to random places of a large table: all slices of L2 have as much to do.
TEST(HonestKernels, ATableThatIsFilledByCompareAndSwap) {
  Profile profile = healthy();
  MemoryInstruction place = access(Space::global, Access::atomic, 13);
  place.executed = 4e6;
  place.threads = 1e8;
  place.sectors = place.ideal_sectors = 1e8;
  place.loop = 0;
  code_of(profile).memory = {wide_load(10), place};
  code_of(profile).loops.clear();
  set_all(profile, {{figure::atomic_use, 0.45},
                    {figure::atomic_sectors, 1e8},
                    {figure::l2_use, 0.6},
                    {figure::instructions, 9e7}});
  set_stalls(profile, {{"long_scoreboard", 0.7}, {"lg_throttle", 0.2}});
  expect_silence(profile);
  // The same use by one address.
  set(profile, figure::atomic_sectors, 1.2e6);
  EXPECT_TRUE(finds("contended_atomics", profile));
}

// All in shared memory, a barrier a step.
TEST(HonestKernels, ASortOfPowersOfTwo) {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::shared, Access::load, 30);
  load.executed = 2e7;
  load.wavefronts = 2.2e7;
  load.ideal_wavefronts = 2e7;
  code_of(profile).memory = {wide_load(10), load, access(Space::global, Access::store, 20)};
  code_of(profile).loops.clear();
  set_all(profile, {{figure::l1_use, 0.75}, {figure::issue_use, 0.6}, {figure::alu_use, 0.5}});
  set_stalls(profile, {{"short_scoreboard", 0.25}, {"barrier", 0.14}, {"wait", 0.2}});
  expect_silence(profile);
}

// A block looks whether those before it are done, and rarely waits: the data streams.
TEST(HonestKernels, AScanThatLooksBack) {
  Profile profile = healthy();
  set_pattern(profile, "spin", 1e5, 4e5, 400);
  set_pattern(profile, "fence", 4e4, 1.6e5, 200);
  set_all(profile, {{figure::dram_use, 0.8}, {figure::atomic_use, 0.1}});
  set_stalls(profile, {{"long_scoreboard", 0.6}, {"barrier", 0.15}, {"membar", 0.02}});
  expect_silence(profile);
}

// Eight complex values a thread in registers, exchanged by shared memory; factors by short sines.
TEST(HonestKernels, AStageOfAFourierTransform) {
  Profile profile = healthy();
  MemoryInstruction exchange = access(Space::shared, Access::store, 30);
  exchange.executed = 8e6;
  exchange.wavefronts = exchange.ideal_wavefronts = 16e6;
  exchange.bits = 64;
  code_of(profile).memory = {wide_load(10), exchange, access(Space::global, Access::store, 20)};
  code_of(profile).mix["special"] = 8e6;
  code_of(profile).loops.clear();
  set_all(profile, {{figure::dram_use, 0.72},
                    {figure::l1_use, 0.5},
                    {figure::special_use, 0.3},
                    {figure::occupancy, 0.36},
                    {figure::theoretical_occupancy, 0.375},
                    {figure::limit_registers, 3},
                    {figure::eligible_warps, 0.6}});
  set_stalls(profile, {{"long_scoreboard", 0.45}, {"barrier", 0.12}, {"short_scoreboard", 0.1}});
  expect_silence(profile);
}

// Records of eight fields, each loaded by a load of its own, which L1 puts together: warps wait for
// the first field alone.
TEST(HonestKernels, FieldsThatL1PutsTogether) {
  Profile profile = healthy();
  MemoryInstruction field = access(Space::global, Access::load, 12);
  field.executed = 8e6;
  field.threads = 32 * 8e6;
  field.sectors = 32 * 8e6;
  field.ideal_sectors = 4 * 8e6;
  code_of(profile).memory = {field, access(Space::global, Access::store, 20)};
  set_all(profile, {{figure::l1_load_bytes, 32.0 * 32 * 8e6},
                    {figure::l1_load_hit_bytes, 28.0 * 32 * 8e6},
                    {figure::dram_read_bytes, 1.1e9},
                    {figure::l1_use, 0.4}});
  set_stalls(profile, {{"long_scoreboard", 0.5}, {"wait", 0.2}});
  EXPECT_FALSE(finds("uncoalesced_access", profile));
  // Its queue is full: each load takes eight turns.
  set_stalls(profile, {{"long_scoreboard", 0.3}, {"lg_throttle", 0.4}});
  EXPECT_TRUE(finds("uncoalesced_access", profile));
}

// Pairs that each thread loads once, before much that asks for conversions: those wait in the same
// queue.
TEST(HonestKernels, AFewUnevenLoadsBesideAFullSpecialFunctionUnit) {
  Profile profile = healthy();
  MemoryInstruction load = access(Space::global, Access::load, 12);
  load.sectors = 8e6;
  code_of(profile).memory = {load, load, access(Space::global, Access::store, 20)};
  code_of(profile).mix["conversion"] = 5e7;
  set(profile, figure::special_use, 0.6);
  set_stalls(profile, {{"mio_throttle", 0.5}, {"short_scoreboard", 0.2}});
  EXPECT_FALSE(finds("uncoalesced_access", profile));
}

}  // namespace
}  // namespace kernelpro
