// A hot loop in which each turn waits for a value of the turn before, while units stand idle.
//
// llvm-mca says how long the chain is and what the units need. Where turns were counted, measured
// cycles decide: fewer than the chain's mean that turns of several loops overlap, many more that
// something else is waited for.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/host_loops.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

Finding chain_finding(const HostLoop& loop) {
  Finding finding;
  finding.tool = "dependent_chain";
  finding.observed = *loop.chain_cycles;
  finding.threshold = *loop.unit_cycles;
  finding.unit = "cycles a turn";
  finding.why = "what the units need for the instructions of a turn, by llvm-mca";
  finding.title = fmt::format(
      "Each turn of the hot loop waits for the one before: {:.1f} cycles, "
      "where its units need {:.1f}",
      *loop.chain_cycles, *loop.unit_cycles);
  if (loop.chased) {
    finding.cause = "The next address comes out of memory: a list or a tree is walked.";
    finding.moves = {"walk several lists at once, or keep the elements in an array",
                     "load the next element before the present one is worked on", "prefetch"};
  } else if (loop.reduction) {
    finding.cause = "One running value takes all terms, one after the other.";
    finding.moves = {"split_accumulator", "vector_reduction", "unroll", "fast_math"};
  } else {
    finding.cause = "The value of a turn is computed from that of the turn before.";
    finding.moves = {"register_block", "interchange",
                     "work on several independent rows or columns in one loop"};
  }
  return finding;
}

ToolResult look_at_chain(const Profile& profile, const KernelProfile& kernel, const HostLoop& loop,
                         const Thresholds& limits) {
  if (!loop.calls.empty()) {
    return {};
  }
  if (!loop.chain_cycles || !loop.unit_cycles) {
    return {{}, {"llvm-mca did not simulate the loop"}};
  }
  const double chain = *loop.chain_cycles;
  const double units = std::max(*loop.unit_cycles, chain / limits.chains);
  if (chain < limits.least_chain_cycles || chain < limits.chain_ratio * *loop.unit_cycles ||
      !(loop.reduction || loop.recurrence || loop.chased)) {
    return {};
  }
  Finding finding = chain_finding(loop);
  if (loop.cycles) {
    if (*loop.cycles < limits.overlapped * chain || *loop.cycles > limits.chain_hidden * chain) {
      return {};
    }
    // By measurement the chain may be shorter than by simulation.
    const double waited = std::min(chain, *loop.cycles);
    finding.derivation = fmt::format("a turn took {:.1f} cycles", *loop.cycles);
    return loop_finding_if_worth(std::move(finding), kernel, loop,
                                 (*loop.cycles - waited + std::min(units, waited)) / *loop.cycles,
                                 limits);
  }
  const double waiting = least_memory_share(profile);
  finding.derivation = "turns were not counted";
  return loop_finding_if_worth(std::move(finding), kernel, loop, std::max(waiting, units / chain),
                               limits);
}

ToolResult look_for_chains(const Profile& profile, const KernelProfile* kernel,
                           const Thresholds& limits) {
  return for_hot_loops(kernel, limits, [&](const HostLoop& loop) {
    return look_at_chain(profile, *kernel, loop, limits);
  });
}

}  // namespace

Tool dependent_chain_tool() {
  return {
      "dependent_chain",
      "Dependent chain",
      {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2, KernelClass::tail},
      {},
      look_for_chains};
}

}  // namespace kernelpro
