// A hot loop whose time is that of divisions and square roots.
//
// llvm-mca says what a turn takes with them, and with products in their place. What the loop waits
// for beside that, no product changes.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/host_loops.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

ToolResult look_at_divisions(const KernelProfile& kernel, const HostLoop& loop,
                             const Thresholds& limits) {
  if (loop.divisions == 0 || !loop.calls.empty()) {
    return {};
  }
  if (!loop.chain_cycles || !loop.unit_cycles || !loop.product_chain_cycles ||
      !loop.product_unit_cycles) {
    return {{}, {"llvm-mca did not simulate the loop"}};
  }
  const double with = std::max(*loop.chain_cycles, *loop.unit_cycles);
  const double without = std::max(*loop.product_chain_cycles, *loop.product_unit_cycles);
  const double cycles = std::max(loop.cycles.value_or(with), with);
  Finding finding;
  finding.tool = "slow_math";
  finding.observed = with;
  finding.threshold = without;
  finding.unit = "cycles a turn";
  finding.why = "what a turn takes with products in the place of divisions, by llvm-mca";
  finding.title =
      fmt::format("{} divisions or square roots a turn hold up the hot loop", loop.divisions);
  finding.cause = "A division takes as long as several products, and hardly overlaps with others.";
  finding.moves = {"hoist", "fast_math", "vector_math",
                   "multiply by a reciprocal that is computed once"};
  finding.derivation = loop.cycles ? fmt::format("a turn took {:.1f} cycles", *loop.cycles)
                                   : "turns were not counted";
  return loop_finding_if_worth(std::move(finding), kernel, loop, (cycles - with + without) / cycles,
                               limits);
}

ToolResult look_for_divisions(const Profile& /*profile*/, const KernelProfile* kernel,
                              const Thresholds& limits) {
  return for_hot_loops(kernel, limits, [&](const HostLoop& loop) {
    return look_at_divisions(*kernel, loop, limits);
  });
}

}  // namespace

Tool slow_math_tool() {
  return {
      "slow_math",
      "Divisions and square roots",
      {KernelClass::alu, KernelClass::latency, KernelClass::l1, KernelClass::l2, KernelClass::tail},
      {},
      look_for_divisions};
}

}  // namespace kernelpro
