// A hot loop for which the caches fetch far more than it uses: it strides or gathers, or comes back
// to data that has left the cache meanwhile.
//
// What is fetched comes from callgrind's caches; what that costs, from measured cycles.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/host_loops.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

Finding strided_finding(const HostLoop& loop, double waste) {
  Finding finding;
  finding.tool = "poor_locality";
  finding.observed = waste;
  finding.unit = "bytes fetched for each that is used";
  finding.title =
      fmt::format("The hot loop uses one byte in {:.1f} of the cache lines that it fetches", waste);
  finding.cause =
      loop.indirect > 0
          ? "Addresses are looked up in memory and lie far apart."
          : "Neighbors in the loop lie far apart in memory: each touches a line of its own.";
  finding.moves = loop.indirect > 0
                      ? std::vector<std::string>{"sort or bin what is looked up by its address",
                                                 "prefetch", "workspace_layout"}
                      : std::vector<std::string>{"interchange", "blocked_transposition", "tile",
                                                 "pack", "workspace_layout"};
  finding.why = "half of each line is used in loops that read side by side";
  return finding;
}

Finding unblocked_finding(double ratio) {
  Finding finding;
  finding.tool = "poor_locality";
  finding.observed = ratio;
  finding.unit = "times the task's least traffic, beyond the first cache";
  finding.title =
      fmt::format("The hot loop fetches {:.0f} times the bytes that the task needs", ratio);
  finding.cause = "Data is fetched again, because it has left the cache before it is used again.";
  finding.moves = {"block_for_caches", "block_and_pack", "tile", "register_block", "fusion"};
  finding.why = "blocks that stay in the cache are fetched a few times at most";
  return finding;
}

ToolResult look_at_misses(const Profile& profile, const KernelProfile& kernel, const HostLoop& loop,
                          const Thresholds& limits) {
  if (!loop.first_misses || !loop.accesses || !loop.cycles) {
    return {{}, {"no accesses of the loop were counted (callgrind)"}};
  }
  const double fetched = *loop.first_misses * limits.line_bytes;
  const double waste = fetched_over_used(loop, limits);
  const double needed = profile.work ? profile.work->read_bytes + profile.work->write_bytes : 0;
  const double ratio = needed > 0 ? fetched / needed : 0;
  const std::optional<double> waiting = waiting_share(profile, loop, limits);
  if (!waiting || *waiting < limits.miss_share) {
    return {};
  }
  if (waste >= limits.fetched_over_used) {
    Finding finding = strided_finding(loop, waste);
    finding.threshold = limits.fetched_over_used;
    finding.derivation = fmt::format("{:.0f} % of its time are waits", 100 * *waiting);
    return loop_finding_if_worth(std::move(finding), kernel, loop, 1 - *waiting * (1 - 1 / waste),
                                 limits);
  }
  if (ratio >= limits.fetched_over_needed) {
    Finding finding = unblocked_finding(ratio);
    finding.threshold = limits.fetched_over_needed;
    finding.derivation = fmt::format("{:.0f} % of its time are waits", 100 * *waiting);
    return loop_finding_if_worth(std::move(finding), kernel, loop,
                                 1 - *waiting * (1 - limits.fetched_over_needed / 2 / ratio),
                                 limits);
  }
  return {};
}

ToolResult look_for_misses(const Profile& profile, const KernelProfile* kernel,
                           const Thresholds& limits) {
  return for_hot_loops(kernel, limits, [&](const HostLoop& loop) {
    return look_at_misses(profile, *kernel, loop, limits);
  });
}

}  // namespace

Tool poor_locality_tool() {
  return {"poor_locality",
          "Strided access, or no cache blocking",
          {KernelClass::dram, KernelClass::l2, KernelClass::l1, KernelClass::alu,
           KernelClass::latency, KernelClass::tail},
          {},
          look_for_misses};
}

}  // namespace kernelpro
