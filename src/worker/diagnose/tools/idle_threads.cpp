// Processors that stand idle while the program works: it uses one thread, or threads of unequal
// work that wait for each other.
//
// Samples say which threads work; those in the code of an OpenMP library wait. Where one works, it
// is told so only if it has others or a task gives it some, and its time lies in loops whose turns
// do not depend on each other: what else runs beside a serial program, only its user knows.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/host_loops.hpp"
#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

namespace {

constexpr double some_work = 0.05;  // of the busiest thread's

int working_threads(const HostRun& run) {
  const double most = run.threads.empty() ? 0 : run.threads.front().working;
  return static_cast<int>(
      std::count_if(run.threads.begin(), run.threads.end(), [most](const ThreadTime& thread) {
        return thread.working >= some_work * most && thread.working > 0;
      }));
}

// The part of the time in loops that could be shared out.
double shareable(const Profile& profile) {
  double share = 0;
  for (const KernelProfile& kernel : profile.kernels) {
    for (const HostLoop& loop : kernel.loops) {
      share += loop.chased || (loop.recurrence && !loop.reduction) ? 0 : loop.share;
    }
  }
  return std::min(share, 1.0);
}

Finding idle_finding(const HostRun& run, double efficiency, int threads, const Thresholds& limits) {
  Finding finding;
  finding.tool = "idle_threads";
  finding.observed = efficiency;
  finding.threshold = limits.least_efficiency;
  finding.unit = "of the processors' time is used";
  finding.why = "shares of equal size end within a few percent of each other";
  if (threads <= 1) {
    finding.title =
        fmt::format("One thread works where {} processors are to be had", run.processors);
    finding.cause = "The loops are not shared out among threads.";
    finding.moves = {"parallel", "nest_in_parallel", "nests_in_parallel", "tiles_in_parallel"};
  } else {
    finding.title = fmt::format("{} threads use {:.0f} % of {} processors' time", threads,
                                100 * efficiency, run.processors);
    finding.cause = "Threads have unequal shares, or wait while one of them works alone.";
    finding.moves = {"parallel_dynamic", "balanced_partition", "nests_in_parallel"};
  }
  return finding;
}

ToolResult look_for_idle_threads(const Profile& profile, const KernelProfile* /*kernel*/,
                                 const Thresholds& limits) {
  if (!profile.host) {
    return {{}, {"no samples of threads"}};
  }
  const HostRun& run = *profile.host;
  if (run.processors < 2 || run.processes > 1) {
    return {};
  }
  const std::optional<double> efficiency = thread_efficiency(run, limits);
  if (!efficiency) {
    return {{},
            {fmt::format("{:.0f} samples of threads, and {:.0f} are needed", run.samples,
                         limits.least_samples)}};
  }
  const int threads = working_threads(run);
  const double shared = threads <= 1 ? shareable(profile) : 1;
  const bool has_others = run.threads.size() > 1 || profile.work;
  if (*efficiency >= limits.least_efficiency || !has_others ||
      (threads <= 1 && shared < limits.serial_loops)) {
    return {};
  }
  const double aimed = *efficiency / limits.parallel_reached;
  const double left = std::max({1 - shared * (1 - aimed), least_memory_share(profile)});
  Finding finding = idle_finding(run, *efficiency, threads, limits);
  finding.derivation = fmt::format(
      "{:.0f} % of the time can be shared out; {:.0f} % of the processors' time would be used",
      100 * shared, 100 * limits.parallel_reached);
  return program_finding_if_worth(std::move(finding), 1 / std::clamp(left, 0.01, 1.0), limits);
}

}  // namespace

Tool idle_threads_tool() {
  return {"idle_threads", "Idle or unequal threads", {}, {}, look_for_idle_threads};
}

}  // namespace kernelpro
