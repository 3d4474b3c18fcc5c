// Warp-wide matrix instructions (HMMA, IMMA) on Hopper, whose tensor cores reach their peak with
// warp-group ones (HGMMA, IGMMA) only.
//
// A product of few rows or little depth is nearer to the roof of DRAM than to that of the tensor
// cores: faster instructions do not help it.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

Roofs relief_by_warp_groups(const Thresholds& limits) {
  Roofs relief;
  relief.tensor = 1 - limits.hmma_rate;
  relief.l1 = limits.hgmma_relief;
  relief.l2 = limits.hgmma_relief;
  // No loads of fragments, and one instruction where there were dozens.
  relief.lsu = limits.tiled_relief;
  relief.issue = limits.tiled_relief;
  return relief;
}

ToolResult look_for_hmma_where_hgmma(const Profile& profile, const KernelProfile* kernel,
                                     const Thresholds& limits) {
  if (!profile.architecture.empty() && !profile.architecture.starts_with("sm_90")) {
    return {};
  }
  Evidence evidence(profile, kernel, limits);
  if (profile.architecture.empty()) {
    evidence.missing("the architecture is not known");
  }
  const Roofs loads = evidence.roofs();
  const double tensor = evidence.figure(figure::tensor_use);
  const double instructions = evidence.figure(figure::instructions);
  const double duration = evidence.figure(figure::duration_ns);
  const double mean = evidence.figure(figure::sm_active_mean);
  const double most = evidence.figure(figure::sm_active_most);
  const CodeFacts& code = evidence.code();
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double warp_wide = amount(code, "hmma") + amount(code, "imma");
  const double group_wide = amount(code, "hgmma") + amount(code, "igmma") + amount(code, "qgmma");
  const double share = warp_wide / std::max(1.0, instructions);
  if (group_wide > 0 || share < limits.hmma_share || duration < limits.least_product_ns ||
      mean < (1 - limits.most_idle) * most ||
      loads.dram > std::max(loads.tensor, limits.memory_product)) {
    return {};
  }
  const double tensor_time = tensor * limits.hmma_rate / limits.hgmma_reached;
  const double saved = 1 - std::max(1 / limits.most_hgmma_gain, tensor_time);

  Finding finding;
  finding.tool = "hmma_where_hgmma";
  finding.observed = share;
  finding.threshold = limits.hmma_share;
  finding.unit = "of executed instructions are warp-wide matrix instructions";
  finding.title = "Matrix products by HMMA on a GPU that has HGMMA";
  finding.why = "with fewer of them the kernel's main work is another";
  finding.cause =
      "mma.sync and wmma feed Hopper's tensor cores from registers, warp by warp: they reach about "
      "62 % of the peak, and the loads of fragments fill L1 and the issue slots.";
  finding.moves = {
      "use warp-group instructions (wgmma) on tiles in shared memory, brought by TMA",
      "use CUTLASS/CuTe's kernels for sm_90a (warp-specialized, with a pipeline of tiles)",
      "a library's product where one fits",
      "warpgroup_mma",
      "warp_specialize",
      "tma_pipeline"};
  finding.derivation = fmt::format(
      "the tensor pipe is busy {:.0f} % of the time and would be {:.0f} %, of which good products "
      "take 1 / {}; no more than a factor of {} is promised",
      100 * tensor, 100 * tensor * limits.hmma_rate, limits.hgmma_reached, limits.most_hgmma_gain);
  finding.places = top_stalled_places(
      evidence.kernel(),
      {"math_pipe_throttle", "short_scoreboard", "mio_throttle", "wait", "long_scoreboard"});
  return finding_if_worth(std::move(finding),
                          gain_of_time(saved, loads, relief_by_warp_groups(limits)), evidence);
}

}  // namespace

Tool hmma_where_hgmma_tool() {
  // The tensor pipe, what feeds it (L1, L2, issue slots), or the waits in between.
  return {"hmma_where_hgmma",
          "HMMA where HGMMA is to be had",
          {KernelClass::tensor, KernelClass::l1, KernelClass::l2, KernelClass::latency,
           KernelClass::alu, KernelClass::tail},
          roof_figures_and({figure::instructions, figure::sm_active_mean, figure::sm_active_most}),
          look_for_hmma_where_hgmma};
}

}  // namespace kernelpro
