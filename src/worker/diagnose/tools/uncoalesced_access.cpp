// Global accesses whose threads touch more 32-byte sectors than their bytes need.
//
// The excess is counted exactly at each instruction. It costs where warps wait for memory, or where
// a memory roof is full of it. What DRAM and L2 would still have to move is at most the bytes that
// the threads ask for: that bounds the gain. Excess that L1 gives again is waited for in its queue
// alone: what a warp waits for is the sector that comes first.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

// ncu counts 24 sectors for an asynchronous copy of aligned rows that need 16.
constexpr double async_overcount = 1.5;

bool is_global(const MemoryInstruction& instruction) {
  return instruction.space == Space::global &&
         is_one_of(instruction.access, {Access::load, Access::store, Access::async_copy});
}

struct Sectors {
  double all = 0;
  double excess = 0;
  double loads = 0;  // of loads
  double excess_of_loads = 0;
  bool counted = true;
  Weighed places;

  // The excess that L1 did not have, of all. `hits`: of the sectors of loads, those that it had.
  [[nodiscard]] double share_past_l1(double hits) const {
    const double absorbed = std::min(excess_of_loads, hits * loads);
    return all > 0 ? (excess - absorbed) / all : 0;
  }
};

Sectors sectors_of(const CodeFacts& code) {
  Sectors sum;
  for (const MemoryInstruction& instruction : code.memory) {
    if (!is_global(instruction) || instruction.executed.value_or(1) <= 0) {
      continue;
    }
    if (!instruction.sectors || !instruction.ideal_sectors) {
      sum.counted = false;
      continue;
    }
    const double counted =
        *instruction.sectors / (instruction.access == Access::async_copy ? async_overcount : 1);
    const double excess = std::max(0.0, counted - *instruction.ideal_sectors);
    sum.all += std::max(counted, *instruction.ideal_sectors);
    sum.excess += excess;
    if (instruction.access == Access::load) {
      sum.loads += std::max(counted, *instruction.ideal_sectors);
      sum.excess_of_loads += excess;
    }
    sum.places.emplace_back(excess, instruction.place);
  }
  return sum;
}

// Of the sectors that loads ask L1 for, those that it has. None where that was not counted.
double l1_hits(const KernelProfile& kernel) {
  const double asked = kernel.figure(figure::l1_load_bytes).value_or(0);
  const double found = kernel.figure(figure::l1_load_hit_bytes).value_or(0);
  return asked > 0 ? std::clamp(found / asked, 0.0, 1.0) : 0;
}

// The part of accesses to global memory in what is asked for through the queue that functions,
// conversions and shuffles share with them. Shared memory has it for itself where there is any.
double part_of_queue(const CodeFacts& code) {
  if (requests(code, is_shared) > 0) {
    return 0;
  }
  const double ours = requests(code, is_far);
  const double others =
      amount(code, "special") + amount(code, "conversion") + amount(code, "shuffle");
  return ours > 0 ? ours / (ours + others) : 0;
}

ToolResult look_for_uncoalesced_access(const Profile& profile, const KernelProfile* kernel,
                                       const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double latency = evidence.stalled({"long_scoreboard", "drain"});
  const double throttled = evidence.stalled({"lg_throttle"});
  const double queued = evidence.stalled({"mio_throttle", "short_scoreboard"});
  const double dram_bytes =
      evidence.figure(figure::dram_read_bytes) + evidence.figure(figure::dram_write_bytes);
  const double l2_bytes = evidence.figure(figure::l2_bytes);
  const CodeFacts& code = evidence.code();
  const Sectors sectors = sectors_of(code);
  if (!sectors.counted) {
    evidence.missing("no sectors at the instructions");
  }
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double share = sectors.all > 0 ? sectors.excess / sectors.all : 0;
  if (share < limits.excess_sector_share) {
    return {};
  }
  const double queue = throttled + queued * part_of_queue(code);
  const double global = l1_turns(code, is_global);
  const double far = l1_turns(code, is_far);
  const double all_turns = l1_turns(code, [](const MemoryInstruction&) { return true; });
  const double past_l1 = sectors.share_past_l1(l1_hits(*kernel));
  const double blamed =
      std::min(1.0, global / std::max(1.0, far)) * (latency * past_l1 + queue * share);
  const double needed_bytes = (sectors.all - sectors.excess) * sector_bytes;
  Roofs relief;
  relief.dram = relief_of(needed_bytes, dram_bytes);
  relief.l2 = relief_of(needed_bytes, l2_bytes);
  relief.l1 = std::min(1.0, sectors.excess / sectors_a_turn / std::max(1.0, all_turns));

  Finding finding;
  finding.tool = "uncoalesced_access";
  finding.observed = sectors.all / (sectors.all - sectors.excess);
  finding.threshold = 1 / (1 - limits.excess_sector_share);
  finding.unit = "times the sectors needed";
  finding.title =
      fmt::format("Global accesses fetch {:.1f} times the sectors they need", finding.observed);
  finding.why = "neighboring threads that access neighboring addresses need no sector twice";
  finding.cause =
      "Threads of a warp access addresses that lie apart, so most of each 32-byte sector is moved "
      "for nothing.";
  finding.moves = {
      "let neighboring threads take neighboring elements: swap the thread's index and the loop's",
      "store arrays of structures as structures of arrays",
      "load a tile row by row into shared memory and read it from there in the other order",
      "cache_all", "coalesce"};
  finding.derivation = fmt::format(
      "{:.0f} % of {:.3g} sectors are not needed and {:.0f} % are not found in L1 either; {:.0f} % "
      "of samples wait for memory and {:.0f} % in its queue",
      100 * share, sectors.all, 100 * past_l1, 100 * latency, 100 * queue);
  finding.places = top_places(sectors.places);
  return finding_if_worth(std::move(finding), gain_of(blamed, loads, relief, limits), evidence);
}

}  // namespace

Tool uncoalesced_access_tool() {
  // Excess sectors fill DRAM, L2 or L1, or only lengthen the waits; few blocks do not hide them.
  return {"uncoalesced_access",
          "Uncoalesced global access",
          {KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::latency,
           KernelClass::tail},
          roof_figures_and({figure::l2_bytes, figure::l1_load_bytes, figure::l1_load_hit_bytes}),
          look_for_uncoalesced_access};
}

}  // namespace kernelpro
