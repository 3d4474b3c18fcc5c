// Kernels so short that the host cannot launch them as fast as the GPU works them off.
//
// A gap counts when the call that ends it came after the GPU had run dry, and nothing held the host
// up but launching. Gaps after a wait for the GPU belong to host_waits. In front of a kernel's
// first launch its code is loaded, once.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/late_gaps.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

constexpr double least_left = 0.05;

struct LostLaunching {
  double ns = 0;
  int gaps = 0;
  double fixed = 0;    // that a fused kernel would not wait for, beyond `ns`
  double tracing = 0;  // what the program without a trace would not wait for
  double loading = 0;  // in front of first launches
};

LostLaunching lost_by_launching(const GpuTime& time, double tracing, const Thresholds& limits) {
  LostLaunching lost;
  for (const LateGap& gap : time.late) {
    const auto length = static_cast<double>(gap.length());
    if (gap.reason != LateGap::Reason::launching || length > limits.longest_launch_gap_ns) {
      continue;
    }
    if (gap.before_first) {
      lost.loading += length;
      continue;
    }
    const double traced = std::min(length, tracing);
    lost.tracing += traced;
    if (length - traced > limits.graph_gap_ns) {
      lost.ns += length - traced - limits.graph_gap_ns;
      lost.fixed +=
          std::min(limits.empty_kernel_ns, static_cast<double>(gap.next_ns)) + limits.graph_gap_ns;
      ++lost.gaps;
    }
  }
  return lost;
}

ToolResult look_for_launch_bound(const Profile& profile, const KernelProfile* /*kernel*/,
                                 const Thresholds& limits) {
  if (std::string problem = trace_problem(profile.trace); !problem.empty()) {
    return {{}, {std::move(problem)}};
  }
  const GpuTime time = gpu_time(*profile.trace);
  const LostLaunching lost =
      lost_by_launching(time, tracing_of_a_call(*profile.trace, limits), limits);
  const double span = static_cast<double>(time.span_ns) - lost.tracing - lost.loading;
  if (lost.gaps == 0 || span <= lost.ns || span < limits.least_kernel_gain * (span - lost.ns)) {
    return {};
  }
  const double left = std::max(least_left * span, span - lost.ns - lost.fixed);
  const double gain = span / left;

  Finding finding;
  finding.tool = "launch_bound";
  finding.observed = lost.ns / span;
  finding.threshold = 1 - 1 / limits.least_kernel_gain;
  finding.unit = "of the traced time";
  finding.title =
      fmt::format("The GPU waits for launches for {:.0f} % of the time", 100 * finding.observed);
  finding.why = "within a graph about a microsecond stays between two kernels";
  finding.cause =
      "Kernels end before the host has launched the next one: a launch costs the host "
      "microseconds, and more where each goes through a framework.";
  finding.moves = {"fuse neighboring kernels into one",
                   ("record the sequence as a CUDA graph (in PyTorch: torch.compile with "
                    "mode=\"reduce-overhead\", or torch.cuda.graph) and launch it as one"),
                   "give each launch more work: batch small problems",
                   "loop inside one persistent kernel where the steps allow it", "fuse_kernels"};
  finding.derivation = fmt::format(
      "{} gaps in front of {} launches add up to {:.0f} of {:.0f} ns beyond {:.0f} ns each and the "
      "cost of the trace; fused, these kernels also save {:.0f} ns of starting and ending: "
      "{:.0f} / {:.0f} = {:.2f}",
      lost.gaps, profile.trace->launches.size(), lost.ns, span, limits.graph_gap_ns, lost.fixed,
      span, left, gain);
  return program_finding_if_worth(std::move(finding), gain, limits);
}

}  // namespace

Tool launch_bound_tool() {
  return {"launch_bound", "Launch-bound sequence", {}, {}, look_for_launch_bound};
}

}  // namespace kernelpro
