// More bytes moved than the task needs, where moving them is what takes the time.
//
// The least is known only from a task's declared work: without one this tool says nothing. The
// bytes of all kernels together stand against it, because a chain of kernels moves what a fused one
// keeps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/patterns.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct Moved {
  double dram = 0;  // a call of the task
  double l2 = 0;
};

// Spills and local arrays move bytes too, and are no traffic of the task's data: global accesses
// cannot have moved more than their sectors. Bulk copies have none counted.
double by_global_accesses(const KernelProfile& kernel, double moved) {
  if (!kernel.code || !kernel.code->counted || amount(*kernel.code, "load_local") <= 0) {
    return moved;
  }
  double bytes = 0;
  for (const MemoryInstruction& access : kernel.code->memory) {
    if (access.access == Access::bulk_copy) {
      return moved;
    }
    bytes += access.space == Space::global ? access.sectors.value_or(0) * sector_bytes : 0;
  }
  return std::min(moved, bytes);
}

// What a product of tiles must read through L2: each operation's operands come with a tile.
double product_bytes(const DeclaredWork& work, const Thresholds& limits) {
  double size = 4;
  if (work.type == "f64") {
    size = 8;
  } else if (work.type == "f16" || work.type == "bf16") {
    size = 2;
  } else if (work.type == "i8" || work.type == "u8" || work.type == "f8") {
    size = 1;
  }
  return work.flops * size / limits.product_tile * limits.l2_counted_again;
}

// Over all kernels. A kernel that was not counted is noted as missing.
Moved moved_by(const Profile& profile, const Thresholds& limits, Evidence& evidence) {
  Moved sum;
  for (const KernelProfile& kernel : profile.kernels) {
    Evidence own(profile, &kernel, limits);
    const double launches = std::max(1, kernel.launches);
    const double moved = own.figure(figure::dram_read_bytes) + own.figure(figure::dram_write_bytes);
    sum.dram += launches * by_global_accesses(kernel, moved);
    sum.l2 += launches * by_global_accesses(kernel, own.figure(figure::l2_bytes));
    for (const std::string& what : own.lacking().not_available) {
      evidence.missing(what);
    }
  }
  const double calls = std::max(1, profile.work->calls);
  return {sum.dram / calls, sum.l2 / calls};
}

Finding finding_for(const char* where, double ratio, double threshold, double moved,
                    double declared, const KernelProfile& kernel) {
  Finding finding;
  finding.tool = "excess_traffic";
  finding.observed = ratio;
  finding.threshold = threshold;
  finding.unit = "times the bytes needed";
  finding.title = fmt::format("{} moves {:.1f} times the bytes that the task needs", where, ratio);
  finding.why = "the task's inputs read once and its outputs written once are the least";
  finding.cause =
      "The same data is read again, or results in between are written out and read back.";
  finding.moves = {
      "fuse kernels or passes, so that what lies between them stays in registers or shared memory",
      "read each input once into a tile in shared memory and use it there as often as needed",
      "order the blocks so that those which share data run at the same time and find it in L2",
      "cache_all",
      "keep_on_chip",
      "cluster_shared",
      "order_blocks"};
  finding.derivation =
      fmt::format("{:.4g} bytes a call were moved, {:.4g} are needed", moved, declared);
  finding.places =
      top_stalled_places(kernel, {"long_scoreboard", "lg_throttle", "drain", "mio_throttle"});
  return finding;
}

ToolResult look_for_excess_traffic(const Profile& profile, const KernelProfile* kernel,
                                   const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const double declared = profile.work ? profile.work->read_bytes + profile.work->write_bytes : 0;
  if (!std::isfinite(declared) || declared <= 0) {
    evidence.missing("no task that says how many bytes are needed");
    return evidence.lacking();
  }
  const Roofs loads = evidence.roofs();
  const Moved moved = moved_by(profile, limits, evidence);
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  const double dram_ratio = moved.dram / declared;
  const double l2_ratio = moved.l2 / declared;
  Roofs relief;
  if (dram_ratio >= limits.dram_traffic_ratio) {
    relief.dram = 1 - 1 / dram_ratio;
    relief.l2 = l2_ratio > 0 ? std::clamp((moved.dram - declared) / moved.l2, 0.0, 1.0) : 0;
    return finding_if_worth(
        finding_for("DRAM", dram_ratio, limits.dram_traffic_ratio, moved.dram, declared, *kernel),
        gain_of(0, loads, relief, limits), evidence);
  }
  const double l2_needed =
      std::max(limits.l2_traffic_ratio * declared, product_bytes(*profile.work, limits));
  // Loads that go past L1 ask L2 for what L1 would give: that is memory_fences'.
  if (moved.l2 > l2_needed && !(kernel->code && reads_past_l1(*kernel->code))) {
    relief.l2 = 1 - l2_needed / moved.l2;
    return finding_if_worth(
        finding_for("L2", l2_ratio, limits.l2_traffic_ratio, moved.l2, declared, *kernel),
        gain_of(0, loads, relief, limits), evidence);
  }
  return {};
}

}  // namespace

Tool excess_traffic_tool() {
  // It limits at a memory roof only; L1 may be fuller than the DRAM or L2 behind it.
  return {"excess_traffic",
          "Traffic above the minimum",
          {KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::latency},
          roof_figures_and({figure::l2_bytes}),
          look_for_excess_traffic};
}

}  // namespace kernelpro
