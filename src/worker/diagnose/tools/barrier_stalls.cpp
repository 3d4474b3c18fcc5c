// Warps that wait at barriers for others of their block.
//
// Who waits at a barrier waits for what the last warp does. Where all warps wait for memory and the
// first to get theirs wait on at the barrier, it is not the cause: its share is cut by theirs. Few
// that load while many stand at the barrier are the defect itself.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

ToolResult look_for_barrier_stalls(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double barrier = evidence.stalled({"barrier"});
  const double memory = evidence.stalled({"long_scoreboard", "lg_throttle"});
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  if (barrier < limits.barrier_share || polls(*kernel, limits)) {
    return {};
  }
  const double blamed = std::max(0.0, barrier - memory) * limits.barrier_recoverable;

  Finding finding;
  finding.tool = "barrier_stalls";
  finding.observed = barrier;
  finding.threshold = limits.barrier_share;
  finding.unit = "of samples";
  finding.title = fmt::format("Warps wait at barriers for {:.0f} % of the time", 100 * barrier);
  finding.why = "a well-fed block passes its barriers with less";
  finding.cause =
      "The warps of a block reach its barriers at different times, or there are more barriers than "
      "the work between them pays for.";
  finding.moves = {
      "divide the work evenly over the warps of a block",
      "do more work between barriers: two buffers in turn need one barrier a tile instead of two",
      "use smaller blocks, so that fewer warps wait for each other and more blocks take turns",
      "synchronize within a warp (__syncwarp, shuffles) where a block is not needed",
      "fewer_barriers"};
  finding.derivation = fmt::format(
      "{:.0f} % of samples wait at barriers and {:.0f} % for memory, of which a barrier passes on "
      "as much; {:.0f} % of the rest can be won back",
      100 * barrier, 100 * memory, 100 * limits.barrier_recoverable);
  finding.places = top_stalled_places(evidence.kernel(), {"barrier"});
  return finding_if_worth(std::move(finding), gain_of(blamed, loads, {}, limits), evidence);
}

}  // namespace

Tool barrier_stalls_tool() {
  // Between its barriers a block may use any unit hard: only memory far away is excluded by the
  // derivation above, and it is cheap to look.
  return {"barrier_stalls",
          "Barrier stalls",
          {KernelClass::latency, KernelClass::l1, KernelClass::alu, KernelClass::tensor,
           KernelClass::l2, KernelClass::tail},
          roof_figures_and({}),
          look_for_barrier_stalls};
}

}  // namespace kernelpro
