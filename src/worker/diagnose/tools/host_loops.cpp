#include "worker/diagnose/tools/host_loops.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/evidence.hpp"

namespace kernelpro {

namespace {

double bytes_an_access(const HostLoop& loop) {
  if (loop.access_bytes > 0) {
    return static_cast<double>(loop.access_bytes) / std::max(1, loop.loads + loop.stores);
  }
  const int bits = loop.packed > loop.scalar && loop.vector_bits > 0
                       ? loop.vector_bits
                       : std::max(loop.element_bits, 8);
  return bits / 8.0;
}

}  // namespace

double fetched_over_used(const HostLoop& loop, const Thresholds& limits) {
  return loop.first_misses && loop.accesses
             ? *loop.first_misses * limits.line_bytes /
                   std::max(1.0, *loop.accesses * bytes_an_access(loop))
             : 0;
}

double least_memory_share(const Profile& profile) {
  if (!profile.work || !profile.host || profile.host->call_ns <= 0) {
    return 0;
  }
  const DeclaredWork& work = *profile.work;
  const double bytes = work.read_bytes + work.write_bytes;
  const double roof = bandwidth_at(profile.ceilings, bytes > 0 ? work.write_bytes / bytes : 0);
  return roof > 0 ? std::min(1.0, bytes / (roof / 1e9) / profile.host->call_ns) : 0;
}

std::optional<double> waiting_share(const Profile& profile, const HostLoop& loop,
                                    const Thresholds& limits) {
  // What is called is not simulated: what the loop fetches for it says how long it may wait.
  if (!loop.calls.empty() && loop.cycles && loop.turns && loop.first_misses &&
      *loop.turns * *loop.cycles > 0) {
    return std::min(1.0, *loop.first_misses * limits.line_cycles / (*loop.turns * *loop.cycles));
  }
  if (loop.cycles && loop.chain_cycles && loop.unit_cycles && *loop.cycles > 0) {
    const double at_work = std::max(*loop.chain_cycles, *loop.unit_cycles);
    return std::clamp(1 - at_work / *loop.cycles, 0.0, 1.0);
  }
  return profile.work ? std::optional(least_memory_share(profile)) : std::nullopt;
}

std::optional<double> thread_efficiency(const HostRun& run, const Thresholds& limits) {
  double working = 0;
  double longest = 0;
  for (const ThreadTime& thread : run.threads) {
    working += thread.working;
    longest = std::max(longest, thread.working + thread.waiting);
  }
  if (working < limits.least_samples || longest <= 0) {
    return std::nullopt;
  }
  return std::min(1.0, working / (longest * std::max(run.processors, 1)));
}

std::string loop_text(const HostLoop& loop) {
  const std::string where = loop.place.line > 0
                                ? fmt::format("{}:{}", loop.place.file, loop.place.line)
                                : fmt::format("address {:#x}", loop.begin);
  return fmt::format("the loop at {} takes {:.0f} % of the time", where, 100 * loop.share);
}

ToolResult loop_finding_if_worth(Finding finding, const KernelProfile& kernel, const HostLoop& loop,
                                 double left, const Thresholds& limits) {
  const double gain = 1 / (1 - loop.share + loop.share * std::clamp(left, 0.01, 1.0));
  finding.kernel = kernel.name;
  if (loop.place.line > 0) {
    finding.places.push_back(loop.place);
  }
  finding.derivation =
      fmt::format("{}{}{}; without that {:.0f} % of it are left", finding.derivation,
                  finding.derivation.empty() ? "" : "; ", loop_text(loop), 100 * left);
  return program_finding_if_worth(std::move(finding), gain, limits);
}

}  // namespace kernelpro
