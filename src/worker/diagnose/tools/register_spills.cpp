// Registers spilled to local memory, and arrays that live there because their index is not known.
//
// Counted where it is executed: a spill in a prologue costs nothing. Local memory is cached, so it
// costs where warps wait for it, where it fills a memory roof, or where its instructions fill the
// issue slots.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

bool is_local(const MemoryInstruction& instruction) {
  return instruction.space == Space::local;
}

bool is_far_but_no_store(const MemoryInstruction& instruction) {
  return is_far(instruction) && instruction.access != Access::store;
}

struct LocalUse {
  double requests = 0;
  double load_part = 0;     // of all requests that warps wait for
  double l1_part = 0;       // of all turns of L1
  double global_bytes = 0;  // that global accesses can explain at most
  Weighed places;
};

LocalUse local_use(const CodeFacts& code) {
  LocalUse use;
  use.requests = requests(code, is_local);
  const double waited = requests(code, is_far_but_no_store);
  const double local_waited = requests(code, [](const MemoryInstruction& access) {
    return is_local(access) && is_far_but_no_store(access);
  });
  use.load_part = waited > 0 ? local_waited / waited : 0;
  const double turns = l1_turns(code, [](const MemoryInstruction&) { return true; });
  use.l1_part = turns > 0 ? l1_turns(code, is_local) / turns : 0;
  for (const MemoryInstruction& instruction : code.memory) {
    if (is_local(instruction)) {
      use.places.emplace_back(instruction.executed.value_or(0), instruction.place);
    } else if (instruction.space == Space::global) {
      use.global_bytes += instruction.sectors.value_or(0) * sector_bytes;
    }
  }
  return use;
}

ToolResult look_for_register_spills(const Profile& profile, const KernelProfile* kernel,
                                    const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double latency = evidence.stalled({"long_scoreboard"});
  const double throttled = evidence.stalled({"lg_throttle"});
  const double dram_bytes =
      evidence.figure(figure::dram_read_bytes) + evidence.figure(figure::dram_write_bytes);
  const double l2_bytes = evidence.figure(figure::l2_bytes);
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const LocalUse use = local_use(code);
  const double share = use.requests / std::max(1.0, instructions);
  if (use.requests <= 0 || share < limits.local_share) {
    return {};
  }
  const double far = requests(code, is_far);
  const double blamed = latency * use.load_part + throttled * use.requests / std::max(1.0, far);
  Roofs relief;
  relief.dram = relief_of(use.global_bytes, dram_bytes);
  relief.l2 = relief_of(use.global_bytes, l2_bytes);
  relief.l1 = use.l1_part;
  relief.lsu = use.l1_part;
  relief.issue = std::min(1.0, share);

  Finding finding;
  finding.tool = "register_spills";
  finding.observed = share;
  finding.threshold = limits.local_share;
  finding.unit = "of executed instructions";
  finding.title = fmt::format("{:.0f} % of executed instructions access local memory", 100 * share);
  finding.why = "spills outside of hot loops are executed less often than that";
  finding.cause =
      "Values that do not fit into registers, or arrays with an index that is known at run time "
      "only, live in local memory: every access goes through L1.";
  finding.moves = {
      "unroll the loops over the array, so that each index is a constant and it fits registers",
      "keep less alive: smaller tiles a thread, or compute values again",
      "allow more registers: a larger -maxrregcount, or fewer blocks in __launch_bounds__",
      "put the array into shared memory, one column a thread", "avoid_spills"};
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait for loads, of which local ones are {:.0f} %; they take {:.0f} % of "
      "the turns of L1, and {:.0f} % of the DRAM traffic is not explained by global accesses",
      100 * latency, 100 * use.load_part, 100 * use.l1_part, 100 * relief.dram);
  finding.places = top_places(use.places);
  return finding_if_worth(std::move(finding), gain_of(blamed, loads, relief, limits), evidence);
}

}  // namespace

Tool register_spills_tool() {
  // Local memory loads every level of the memory and the issue slots; only a full tensor pipe, DRAM
  // and L2 included, can be filled by anything else as well.
  return {"register_spills",
          "Register spills and local arrays",
          {KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::alu,
           KernelClass::latency, KernelClass::tensor, KernelClass::tail},
          roof_figures_and({figure::l2_bytes, figure::instructions}),
          look_for_register_spills};
}

}  // namespace kernelpro
