// What the tools for processors share: loops, and what their time is made of.
#pragma once

#include <string>

#include "common/model/profile.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

// The part of the time that the task's least traffic takes with nothing else; 0: not known.
[[nodiscard]] double least_memory_share(const Profile& profile);

// The part of a loop's time in which neither its units nor its chain are at work: it waits for
// memory, or for what is around it. By measured cycles where there are any (of a loop that calls
// functions, by what it fetches); else by the task's least traffic. Nothing: neither is known.
[[nodiscard]] std::optional<double> waiting_share(const Profile& profile, const HostLoop& loop,
                                                  const Thresholds& limits);

// How far all processors were used while the program worked; nothing: too few samples.
[[nodiscard]] std::optional<double> thread_efficiency(const HostRun& run, const Thresholds& limits);

// Bytes that the first cache fetched for each that the loop uses; 0: not counted.
[[nodiscard]] double fetched_over_used(const HostLoop& loop, const Thresholds& limits);

// "2.1 % of the time at kernel.cpp:12"
[[nodiscard]] std::string loop_text(const HostLoop& loop);

// The finding for a loop that would take `left` of its time; nothing where that is not worth it.
[[nodiscard]] ToolResult loop_finding_if_worth(Finding finding, const KernelProfile& kernel,
                                               const HostLoop& loop, double left,
                                               const Thresholds& limits);

// Runs `look` on each loop with enough of the time and puts the results together.
template <typename Look>
ToolResult for_hot_loops(const KernelProfile* kernel, const Thresholds& limits, Look look) {
  ToolResult out;
  for (const HostLoop& loop : kernel == nullptr ? std::vector<HostLoop>() : kernel->loops) {
    if (loop.share < limits.least_loop_share) {
      continue;
    }
    ToolResult one = look(loop);
    out.findings.insert(out.findings.end(), one.findings.begin(), one.findings.end());
    out.not_available.insert(out.not_available.end(), one.not_available.begin(),
                             one.not_available.end());
  }
  return out;
}

}  // namespace kernelpro
