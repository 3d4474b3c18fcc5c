// Atomics that queue for the same addresses.
//
// In global memory the busiest slice of L2 shows it: one address lies in one slice, which serves
// its atomics one after the other. In shared memory the turns an access takes, and the retries of a
// loop around it, show it. Spread atomics load all slices alike, and few turns. Atomics that only
// read are memory_fences'.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

bool is_atomic(const MemoryInstruction& instruction) {
  return is_one_of(instruction.access, {Access::atomic, Access::reduction});
}

bool is_shared_atomic(const MemoryInstruction& instruction) {
  return instruction.space == Space::shared && is_atomic(instruction);
}

bool is_global_atomic(const MemoryInstruction& instruction) {
  return instruction.space == Space::global && is_atomic(instruction);
}

// Of the sectors that global accesses ask L2 for.
double atomic_sector_share(const CodeFacts& code) {
  double all = 0;
  double atomic = 0;
  for (const MemoryInstruction& instruction : code.memory) {
    if (instruction.space == Space::global) {
      const double sectors = instruction.sectors.value_or(0);
      all += sectors;
      atomic += is_atomic(instruction) ? sectors : 0;
    }
  }
  return all > 0 ? atomic / all : 0;
}

// Several turns an access, or few threads that are still trying.
bool is_contended(const MemoryInstruction& instruction, const Thresholds& limits) {
  const double executed = instruction.executed.value_or(0);
  if (executed <= 0) {
    return false;
  }
  const double turns = instruction.wavefronts.value_or(0) /
                       std::max(1.0, instruction.ideal_wavefronts.value_or(executed));
  const double threads = instruction.threads.value_or(executed * 32) / executed;
  return turns >= limits.contended_turns ||
         (instruction.loop >= 0 && threads <= limits.contended_threads);
}

// Whether all slices of L2 are about as busy with atomics as the busiest one.
bool is_spread(const KernelProfile& kernel, double use, double sectors, const Thresholds& limits) {
  const double busy = kernel.figure(figure::sm_elapsed).value_or(0) * use;
  return busy > 0 && sectors >= limits.spread_atomics * busy;
}

std::vector<SourcePlace> places_of(const CodeFacts& code, const Which& which) {
  Weighed weighed;
  for (const MemoryInstruction& instruction : code.memory) {
    if (which(instruction)) {
      weighed.emplace_back(instruction.executed.value_or(0), instruction.place);
    }
  }
  return top_places(weighed);
}

Finding base_finding() {
  Finding finding;
  finding.tool = "contended_atomics";
  finding.cause =
      "Many threads update the same few addresses, and their atomics are served one after the "
      "other.";
  finding.moves = {
      "add up within the warp first (shuffles, __reduce_add_sync), then one atomic a warp",
      "keep a copy of the counters for each block in shared memory, and merge them at the end",
      "spread hot counters over several copies",
      "sort or segment the input, so that each result has one owner", "privatize_atomics"};
  return finding;
}

ToolResult look_at_shared(const CodeFacts& code, const Roofs& loads, Evidence& evidence) {
  const Thresholds& limits = evidence.limits();
  const Which contended = [&limits](const MemoryInstruction& instruction) {
    return is_shared_atomic(instruction) && is_contended(instruction, limits);
  };
  const double share = sample_share_at(evidence.kernel(), code, contended);
  if (share < limits.atomic_line_share) {
    return {};
  }
  Finding finding = base_finding();
  finding.observed = share;
  finding.threshold = limits.atomic_line_share;
  finding.unit = "of samples at atomics on shared memory";
  finding.title =
      fmt::format("Contended atomics on shared memory take {:.0f} % of the time", 100 * share);
  finding.why = "atomics on different addresses cost little more than stores";
  finding.derivation =
      fmt::format("{:.0f} % of samples lie at the lines of these atomics", 100 * share);
  finding.places = places_of(code, contended);
  Roofs relief;
  relief.l1 = share;
  relief.issue = share;
  relief.lsu = share;
  return finding_if_worth(std::move(finding),
                          gain_of_time(share * (1 - limits.atomics_left), loads, relief), evidence);
}

ToolResult look_for_contended_atomics(const Profile& profile, const KernelProfile* kernel,
                                      const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double use = evidence.figure(figure::atomic_use);
  const double sectors =
      evidence.figure(figure::atomic_sectors) + evidence.figure(figure::reduction_sectors);
  // What waits behind a full queue of atomics waits under many names.
  const double waits = evidence.stalled(
      {"drain", "long_scoreboard", "lg_throttle", "membar", "mio_throttle", "short_scoreboard"});
  const CodeFacts& code = evidence.code();
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  if (polls(*kernel, limits)) {
    return {};
  }
  if (use < limits.atomic_use || reads_past_l1(code) || is_spread(*kernel, use, sectors, limits)) {
    return look_at_shared(code, loads, evidence);
  }
  Roofs relief;
  relief.l2 = atomic_sector_share(code);
  relief.atomics = 1 - limits.atomics_left;
  const double saved = std::min(loads.atomics, waits) * (1 - limits.atomics_left);

  Finding finding = base_finding();
  finding.observed = use;
  finding.threshold = limits.atomic_use;
  finding.unit = "of the time of the busiest slice of L2";
  finding.title =
      fmt::format("Atomics keep a slice of L2 busy for {:.0f} % of the time", 100 * use);
  finding.why = "spread over the slices, atomics load none of them that far";
  finding.derivation = fmt::format(
      "the busiest slice works on atomics for {:.0f} % of the time, {:.0f} % of what it can; "
      "{:.0f} "
      "% of samples wait behind them; reduced within warps {:.0f} % of that stays",
      100 * use, 100 * loads.atomics, 100 * waits, 100 * limits.atomics_left);
  finding.places = places_of(code, is_global_atomic);
  return finding_if_worth(std::move(finding), gain_of_time(saved, loads, relief), evidence);
}

}  // namespace

Tool contended_atomics_tool() {
  // A full slice of L2, a pipe of shared memory, spinning instructions, or only waits.
  return {"contended_atomics",
          "Atomics under contention",
          {KernelClass::l2, KernelClass::l1, KernelClass::latency, KernelClass::alu,
           KernelClass::dram, KernelClass::tail},
          roof_figures_and({figure::atomic_use, figure::atomic_sectors, figure::reduction_sectors}),
          look_for_contended_atomics};
}

}  // namespace kernelpro
