// Divergent warps: an instruction takes a warp's turn, however few of its threads take part.
//
// Counted at each instruction. Threads that wait for others at an atomic or a flag are no matter of
// this tool: contended_atomics and memory_fences have them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

constexpr double threads_a_warp = 32;

// Of the lanes of a block's warps, those that the block has no threads for.
double lanes_without_thread(const KernelProfile& kernel) {
  const double threads = threads_of_block(kernel);
  return 1 - threads / (threads_a_warp * std::ceil(threads / threads_a_warp));
}

// Of the turns of L1 and shared memory, what full warps would not take: an access takes one however
// few of its threads take part.
double idle_accesses(const CodeFacts& code) {
  double all = 0;
  double idle = 0;
  for (const MemoryInstruction& access : code.memory) {
    const double turns = l1_turns_of(access);
    const double lanes = threads_a_warp * access.executed.value_or(0);
    all += turns;
    idle +=
        lanes > 0 ? turns * std::clamp(1 - access.threads.value_or(lanes) / lanes, 0.0, 1.0) : 0;
  }
  return all > 0 ? idle / all : 0;
}

Finding finding_for_blocks(double absent) {
  Finding finding;
  finding.cause = fmt::format(
      "The threads of a block are no multiple of 32: {:.0f} % of the lanes of its warps have no "
      "thread, and stand aside all the time.",
      100 * absent);
  finding.moves = {"make blocks of a multiple of 32 threads",
                   "give a block the work of several, so that its warps are full"};
  return finding;
}

Finding finding_for_branches() {
  Finding finding;
  finding.cause =
      "Threads of one warp take different branches, or their loops have different lengths: the "
      "warp goes every way, and those who have no part in it stand aside.";
  finding.moves = {
      "sort or group the work, so that the threads of a warp have the same kind and length",
      "collect the elements that have work first, and then give each thread one",
      "give short rows to parts of a warp, and let all lanes of a warp share a long one",
      "less_divergence", "warp_per_row"};
  return finding;
}

ToolResult look_for_divergent_warps(const Profile& profile, const KernelProfile* kernel,
                                    const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double active = evidence.figure(figure::active_threads);
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  need_patterns(code, evidence);
  need_samples(evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const CodePattern idle = pattern(code, "divergent");
  const double turns = std::min(1.0, idle.executed / std::max(1.0, instructions));
  const double waits = sample_share(*kernel, idle.samples);
  if (turns < limits.idle_turns || 1 - active / threads_a_warp < limits.idle_turns) {
    return {};
  }
  // Where instructions are the limit, those that full warps need not issue are time. Elsewhere no
  // more than the waits at them goes.
  const double at_waits = std::min(turns, waits);
  const double fullest = std::max({loads.issue, loads.pipes, loads.special});
  const double saved = at_waits + is_limit(fullest, limits) * (turns - at_waits);
  Roofs relief;
  relief.issue = relief.pipes = relief.special = turns;
  relief.l1 = relief.lsu = idle_accesses(code);

  const double absent = lanes_without_thread(*kernel);
  Finding finding = absent >= turns / 2 ? finding_for_blocks(absent) : finding_for_branches();
  finding.tool = "divergent_warps";
  finding.observed = turns;
  finding.threshold = limits.idle_turns;
  finding.unit = "of the threads' turns";
  finding.title = fmt::format("In {:.0f} % of their turns, threads stand aside", 100 * turns);
  finding.why = "a boundary or the end of a reduction leaves fewer threads aside";
  finding.derivation = fmt::format(
      "{:.1f} of 32 threads are there on average; with full warps {:.0f} % of the instructions "
      "are not issued, at which {:.0f} % of samples lie",
      active, 100 * turns, 100 * waits);
  finding.places = idle.places;
  return finding_if_worth(std::move(finding), gain_of_time(saved, loads, relief), evidence);
}

}  // namespace

Tool divergent_warps_tool() {
  // Instructions and their waits: wherever neither DRAM nor L2 is full.
  return {"divergent_warps",
          "Divergent warps",
          {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::tensor,
           KernelClass::tail, KernelClass::l2},
          roof_figures_and({figure::active_threads, figure::instructions}),
          look_for_divergent_warps};
}

}  // namespace kernelpro
