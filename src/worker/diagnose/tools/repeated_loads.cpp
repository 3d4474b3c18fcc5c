// Global data that is loaded again, although registers or shared memory could keep it.
//
// From L1: coalesced loads that hit there were loaded before, by the thread or by its neighbors.
// Sectors that are touched in part hit too; those are uncoalesced_access's and narrow_loads'.
// From L2: loads ask more of it than DRAM gave, in a kernel that streams more than L2 holds. With a
// task that declares its bytes excess_traffic tells that.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

bool loads_global(const MemoryInstruction& instruction) {
  return instruction.space == Space::global && instruction.access == Access::load;
}

// Of the sectors that loads ask for, those that their bytes need.
double coalesced_part(const CodeFacts& code) {
  double sectors = 0;
  double ideal = 0;
  for (const MemoryInstruction& load : code.memory) {
    if (loads_global(load)) {
      sectors += load.sectors.value_or(0);
      ideal += load.ideal_sectors.value_or(0);
    }
  }
  return sectors > 0 ? ideal / sectors : 0;
}

// Of four bytes, by warps.
double words_loaded(const CodeFacts& code) {
  double words = 0;
  for (const MemoryInstruction& load : code.memory) {
    words += loads_global(load) ? load.executed.value_or(0) * std::max(1.0, load.bits / 32.0) : 0;
  }
  return words;
}

std::vector<SourcePlace> load_places(const CodeFacts& code) {
  Weighed weighed;
  for (const MemoryInstruction& load : code.memory) {
    if (loads_global(load)) {
      weighed.emplace_back(load.executed.value_or(0), load.place);
    }
  }
  return top_places(weighed);
}

Finding base_finding_for_loads() {
  Finding finding;
  finding.tool = "repeated_loads";
  finding.cause =
      "A thread, or threads side by side, load the same global data again and again instead of "
      "keeping it in registers or shared memory.";
  finding.moves = {
      "let each thread compute several neighboring results, so that a loaded value serves all",
      "keep a state that a loop updates in a register, and store it once behind the loop",
      "say __restrict__, or load coefficients before the loop: else a store could change them",
      "keep a row in registers between its passes",
      "keep_on_chip",
      "register_tiles",
      "restrict_all"};
  return finding;
}

struct Loaded {
  double bytes = 0;      // that loads asked L1 for
  double hit_bytes = 0;  // found there
  double l2_bytes = 0;   // that L1 asked L2 for
  double dram_bytes = 0;
};

Finding finding_for_neighbors(const CodeFacts& code, const Loaded& loaded, double hits,
                              double spared, const Thresholds& limits) {
  Finding finding = base_finding_for_loads();
  finding.observed = hits;
  finding.threshold = limits.repeated_share;
  finding.unit = "of the loaded bytes were loaded before";
  finding.title =
      fmt::format("{:.0f} % of the bytes that are loaded were in L1 already", 100 * hits);
  finding.why = "edges that neighbors share are loaded twice by any kernel";
  finding.derivation = fmt::format(
      "{:.4g} of {:.4g} bytes were found in L1; where a loaded value serves {:.0f} results, {:.0f} "
      "% of the loads go",
      loaded.hit_bytes, loaded.bytes, limits.uses_a_load, 100 * spared);
  finding.places = load_places(code);
  return finding;
}

Finding finding_for_turns(const CodeFacts& code, double reloads, const Thresholds& limits) {
  const CodePattern reload = pattern(code, "reload");
  Finding finding = base_finding_for_loads();
  finding.observed = reloads;
  finding.threshold = limits.repeated_share / 2;
  finding.unit = "of the loads have an address that their loop has loaded before";
  finding.title =
      fmt::format("{:.0f} % of the loads ask for an address again in each turn", 100 * reloads);
  finding.why = "a register keeps what stays, and what a thread itself updates";
  finding.derivation = fmt::format(
      "{:.4g} loads by warps are from addresses that stay in their loop: {:.0f} % of the loads go",
      reload.begun, 100 * reloads);
  finding.places = reload.places;
  return finding;
}

ToolResult look_at_l1(const CodeFacts& code, const Loaded& loaded, const Roofs& loads,
                      double instructions, Evidence& evidence) {
  const Thresholds& limits = evidence.limits();
  const double hits = loaded.bytes > 0 ? std::min(1.0, loaded.hit_bytes / loaded.bytes) : 0;
  const double coalesced = coalesced_part(code);
  if (coalesced < limits.repeated_coalesced) {
    return {};
  }
  // A sector that is used in part is asked for again until all of it was.
  const double again = std::max(0.0, (hits - (1 - coalesced)) / coalesced);
  const double requested = requests(code, loads_global);
  const double reloads = pattern(code, "reload").begun / std::max(1.0, requested);
  const double uses = (instructions - requested) / std::max(1.0, words_loaded(code));
  const double by_neighbors = again >= limits.repeated_share && uses < limits.enough_uses
                                  ? again * (1 - 1 / limits.uses_a_load)
                                  : 0;
  const double by_turns = std::min(reloads, hits);
  const double spared = std::max(by_neighbors, by_turns);
  if (spared < limits.repeated_share / 2) {
    return {};
  }
  const Which any = [](const MemoryInstruction& access) { return access.space != Space::constant; };
  const double turns = l1_turns(code, loads_global) / std::max(1.0, l1_turns(code, any));
  Roofs relief;
  relief.l1 = spared * turns;
  relief.lsu = spared * requested / std::max(1.0, requests(code, any));
  relief.issue = std::min(
      1.0, limits.instructions_per_load * spared * requested / std::max(1.0, instructions));
  const double waits = evidence.stalled({"long_scoreboard", "lg_throttle"});

  Finding finding = by_neighbors >= by_turns
                        ? finding_for_neighbors(code, loaded, hits, spared, limits)
                        : finding_for_turns(code, reloads, limits);
  finding.derivation += fmt::format(", and {:.0f} % of samples wait for loads", 100 * waits);
  return finding_if_worth(std::move(finding), gain_by_hiding(waits * spared, loads, relief, limits),
                          evidence);
}

ToolResult look_at_l2(const CodeFacts& code, const Loaded& loaded, const Roofs& loads,
                      Evidence& evidence) {
  const Thresholds& limits = evidence.limits();
  // What loads asked for and needed: L2 is read for spills too, and for sectors used in part.
  const double missed = std::max(0.0, loaded.bytes - loaded.hit_bytes);
  const double asked = std::min(loaded.l2_bytes, missed) * coalesced_part(code);
  const double again = loaded.dram_bytes > 0 ? asked / loaded.dram_bytes : 0;
  if (again < limits.repeated_from_l2 || loaded.dram_bytes < evidence.limit("l2_bytes") ||
      is_matrix_pipeline(evidence.kernel())) {
    return {};
  }
  const double spared = 1 - 1 / again;
  const double waits = evidence.stalled({"long_scoreboard", "lg_throttle"});
  Roofs relief;
  relief.l2 = spared;
  relief.l1 = relief.lsu = spared;

  Finding finding = base_finding_for_loads();
  finding.observed = again;
  finding.threshold = limits.repeated_from_l2;
  finding.unit = "times what DRAM gave is asked of L2";
  finding.title = fmt::format("Each byte from DRAM is loaded {:.1f} times", again);
  finding.why = "what streams through is loaded once";
  finding.derivation = fmt::format(
      "DRAM gave {:.4g} bytes, loads asked L2 for {:.4g}; {:.0f} % of samples wait for loads",
      loaded.dram_bytes, asked, 100 * waits);
  finding.places = load_places(code);
  return finding_if_worth(std::move(finding), gain_by_hiding(waits * spared, loads, relief, limits),
                          evidence);
}

ToolResult look_for_repeated_loads(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double instructions = evidence.figure(figure::instructions);
  Loaded loaded;
  loaded.bytes = evidence.figure(figure::l1_load_bytes);
  loaded.hit_bytes = evidence.figure(figure::l1_load_hit_bytes);
  loaded.l2_bytes = evidence.figure(figure::l2_read_bytes);
  loaded.dram_bytes = evidence.figure(figure::dram_read_bytes);
  const CodeFacts& code = evidence.code();
  need_patterns(code, evidence);
  need_samples(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  ToolResult found = look_at_l1(code, loaded, loads, instructions, evidence);
  const bool declared = profile.work && profile.work->read_bytes > 0;
  if (found.findings.empty() && !declared) {
    found = look_at_l2(code, loaded, loads, evidence);
  }
  return found;
}

}  // namespace

Tool repeated_loads_tool() {
  // L1 and its queue, or L2; instructions where it is the number of loads.
  return {"repeated_loads",
          "Repeated loads",
          {KernelClass::l1, KernelClass::l2, KernelClass::latency, KernelClass::alu,
           KernelClass::dram, KernelClass::tail},
          roof_figures_and({figure::instructions, figure::l1_load_bytes, figure::l1_load_hit_bytes,
                            figure::l2_read_bytes}),
          look_for_repeated_loads};
}

}  // namespace kernelpro
