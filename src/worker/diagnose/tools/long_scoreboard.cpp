// Warps that wait for loads while memory has room, because each thread asks for too little at once.
//
// The loop that loads most says how many loads are under way before the first value is needed. With
// full roofs, or with a grid that leaves the GPU empty, more loads in flight are not the remedy.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

bool is_global_load(const MemoryInstruction& instruction) {
  return instruction.space == Space::global && instruction.access == Access::load;
}

bool is_waited_for(const MemoryInstruction& instruction) {
  return is_far(instruction) && is_one_of(instruction.access, {Access::load, Access::atomic});
}

// A load that is not coalesced asks for several times its sectors: as if as many were in flight.
double sectors_over_needed(const CodeFacts& code) {
  double sectors = 0;
  double needed = 0;
  for (const MemoryInstruction& instruction : code.memory) {
    if (is_global_load(instruction) && instruction.sectors && instruction.ideal_sectors) {
      sectors += *instruction.sectors;
      needed += std::min(*instruction.sectors, *instruction.ideal_sectors);
    }
  }
  return needed > 0 ? sectors / needed : 1;
}

ToolResult look_for_long_scoreboard(const Profile& profile, const KernelProfile* kernel,
                                    const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double waits = evidence.stalled({"long_scoreboard"});
  const double mean = evidence.figure(figure::sm_active_mean);
  const double most = evidence.figure(figure::sm_active_most);
  const CodeFacts& code = evidence.code();
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const LoadsInFlight hottest = hottest_loads(code);
  const double in_flight = hottest.loads * sectors_over_needed(code);
  if (waits < limits.long_scoreboard_share || mean < (1 - limits.most_idle) * most ||
      hottest.loads == 0 || loads_again(code) || reads_past_l1(code) ||
      in_flight > limits.most_loads_in_flight) {
    return {};
  }
  const double waited = requests(code, is_waited_for);
  const double part = waited > 0 ? requests(code, is_global_load) / waited : 1;
  if (part < limits.global_load_share) {
    return {};  // they wait for spills or atomics
  }
  const double duration = kernel->figure(figure::duration_ns).value_or(kernel->duration_ns);
  const double whole = duration > 0 ? scalable_part(duration, 1, limits) : 1;
  const double blamed =
      waits * part * whole * std::max(0.0, 1 - in_flight / limits.aimed_loads_in_flight);

  Finding finding;
  finding.tool = "long_scoreboard";
  finding.observed = hottest.loads;
  finding.threshold = limits.most_loads_in_flight;
  finding.unit = "loads in flight a thread";
  finding.title =
      fmt::format("{:.0f} load{} under way a thread, and {:.0f} % of the time waits for them",
                  hottest.loads, hottest.loads < 1.5 ? "" : "s", 100 * waits);
  finding.why =
      "memory answers after hundreds of cycles; with several loads under way a thread waits "
      "once for all of them";
  finding.cause = hottest.in_loop
                      ? "Each turn of the loop needs its values before the next turn's loads begin."
                      : "Each thread loads once, waits and ends.";
  finding.moves = {"unroll_loops",
                   "restrict_all",
                   "more_loads_in_flight",
                   "load the next turn's values before this turn's are used",
                   "let each thread take several elements and load them first",
                   "copy tiles to shared memory with cp.async or TMA, two or more stages ahead"};
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait for loads, {:.0f} % of these for global ones; {} in flight instead "
      "of {:.1f} leave {:.0f} % of the wait",
      100 * waits, 100 * part, limits.aimed_loads_in_flight, hottest.loads,
      100 * std::min(1.0, in_flight / limits.aimed_loads_in_flight));
  finding.places = top_stalled_places(evidence.kernel(), {"long_scoreboard"});
  if (finding.places.empty() && hottest.place.line > 0) {
    finding.places.push_back(hottest.place);
  }
  return finding_if_worth(std::move(finding), gain_by_hiding(blamed, loads, {}, limits), evidence);
}

}  // namespace

Tool long_scoreboard_tool() {
  // Latency by nature; a memory roof half full, or blocks of unequal length, can stand before it.
  return {"long_scoreboard",
          "Too few loads in flight",
          {KernelClass::latency, KernelClass::dram, KernelClass::l2, KernelClass::l1,
           KernelClass::tail},
          roof_figures_and({}),
          look_for_long_scoreboard};
}

}  // namespace kernelpro
