// Kernels so short that the host cannot launch them as fast as the GPU works them off.
//
// A gap counts when the call that ends it came after the GPU had run dry, and nothing held the host
// up but launching. Gaps after a wait for the GPU belong to host_waits.
#include <fmt/format.h>

#include <algorithm>

#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/late_gaps.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct Lost {
  double ns = 0;
  int gaps = 0;
};

Lost lost_by_launching(const GpuTime& time, const Thresholds& limits) {
  Lost lost;
  for (const LateGap& gap : time.late) {
    const auto length = static_cast<double>(gap.length());
    if (gap.reason == LateGap::Reason::launching && length > limits.graph_gap_ns &&
        length <= limits.longest_launch_gap_ns) {
      lost.ns += length - limits.graph_gap_ns;
      ++lost.gaps;
    }
  }
  return lost;
}

ToolResult look(const Profile& profile, const KernelProfile* /*kernel*/, const Thresholds& limits) {
  if (std::string problem = trace_problem(profile.trace); !problem.empty()) {
    return {{}, {std::move(problem)}};
  }
  const GpuTime time = gpu_time(*profile.trace);
  const Lost lost = lost_by_launching(time, limits);
  const auto span = static_cast<double>(time.span_ns);
  if (lost.gaps == 0 || span <= lost.ns) {
    return {};
  }
  const double gain = span / (span - lost.ns);

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
      "microseconds, "
      "and more where each goes through a framework.";
  finding.moves = {"fuse neighbouring kernels into one",
                   "record the sequence as a CUDA graph (in PyTorch: torch.compile with "
                   "mode=\"reduce-overhead\", or torch.cuda.graph) and launch it as one",
                   "give each launch more work: batch small problems",
                   "loop inside one persistent kernel where the steps allow it"};
  finding.derivation = fmt::format(
      "{} gaps in front of {} launches add up to {:.0f} of {:.0f} ns beyond {:.0f} ns each: {:.0f} "
      "/ "
      "{:.0f} = {:.2f}",
      lost.gaps, profile.trace->launches.size(), lost.ns, span, limits.graph_gap_ns, span,
      span - lost.ns, gain);
  return program_finding_if_worth(std::move(finding), gain, limits);
}

}  // namespace

Tool launch_bound_tool() {
  return {"launch_bound", "Launch-bound sequence", {}, {}, false, true, look};
}

}  // namespace kernelpro
