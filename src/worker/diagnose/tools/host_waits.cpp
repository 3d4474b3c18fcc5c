// The host waits for the GPU and lets it run dry, blocks in copies or allocations, or copies its
// memory while no kernel runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/late_gaps.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

struct LostWaiting {
  double waiting = 0;     // gaps after a wait for the GPU
  double blocked = 0;     // gaps in copies and allocations
  double copying = 0;     // exposed copies, as far as they can be made shorter or hidden
  double tracing = 0;     // what the program without a trace would not wait for
  std::string main_call;  // that most of the gaps belong to

  [[nodiscard]] double all() const { return waiting + blocked + copying; }
};

LostWaiting lost_by_waiting(const GpuTime& time, double tracing, const Thresholds& limits) {
  LostWaiting lost;
  std::map<std::string, double> by_call;
  for (const LateGap& gap : time.late) {
    if (gap.reason == LateGap::Reason::launching) {
      continue;
    }
    const auto length = static_cast<double>(gap.length());
    const double traced = std::min(length, tracing);
    const double ns = std::max(0.0, length - traced - limits.graph_gap_ns);
    lost.tracing += traced;
    (gap.reason == LateGap::Reason::waiting ? lost.waiting : lost.blocked) += ns;
    by_call[gap.call] += ns;
  }
  double most = 0;
  for (const auto& [call, ns] : by_call) {
    if (ns > most) {
      most = ns;
      lost.main_call = call;
    }
  }
  const auto pageable = static_cast<double>(time.exposed_pageable_ns);
  const double pinned = static_cast<double>(time.exposed_copy_ns) - pageable;
  lost.copying = pageable * (1 - 1 / limits.pinned_speed) +
                 limits.copies_overlapped *
                     std::min(std::max(0.0, pinned), static_cast<double>(time.kernel_ns));
  return lost;
}

std::vector<std::string> moves_for(const LostWaiting& lost) {
  std::vector<std::string> moves;
  if (lost.copying >= lost.waiting && lost.copying >= lost.blocked) {
    moves = {"keep the data on the GPU between kernels instead of copying it out and in",
             "use pinned host memory (cudaHostAlloc, pin_memory) and cudaMemcpyAsync",
             "copy in pieces on a second stream while kernels work on the piece before"};
  } else {
    moves = {
        "take the wait out of the loop: synchronize once at the end, or use events and streams",
        "leave results on the GPU; in PyTorch avoid .item(), .cpu() and print in the loop",
        "allocate once before the loop, or from a pool (cudaMallocAsync)"};
  }
  moves.emplace_back("record the sequence as a CUDA graph");
  moves.emplace_back("no_host_waits");
  return moves;
}

ToolResult look_for_host_waits(const Profile& profile, const KernelProfile* /*kernel*/,
                               const Thresholds& limits) {
  if (std::string problem = trace_problem(profile.trace); !problem.empty()) {
    return {{}, {std::move(problem)}};
  }
  const GpuTime time = gpu_time(*profile.trace);
  const LostWaiting lost = lost_by_waiting(time, tracing_of_a_call(*profile.trace, limits), limits);
  const double span = static_cast<double>(time.span_ns) - lost.tracing;
  if (lost.all() <= 0 || span <= lost.all()) {
    return {};
  }
  const double gain = span / (span - lost.all());

  Finding finding;
  finding.tool = "host_waits";
  finding.observed = lost.all() / span;
  finding.threshold = 1 - 1 / limits.least_kernel_gain;
  finding.unit = "of the traced time";
  finding.title =
      fmt::format("Waits and copies of the host cost {:.0f} % of the time", 100 * finding.observed);
  finding.why = "a host that runs ahead of the GPU and copies beside its kernels costs nothing";
  finding.cause = lost.main_call.empty()
                      ? "The host's memory is copied while no kernel runs."
                      : fmt::format(
                            "The GPU runs dry while the host is in {}, and has nothing to do "
                            "until the host has come back and launched again.",
                            lost.main_call);
  finding.moves = moves_for(lost);
  finding.derivation = fmt::format(
      "of {:.0f} ns the GPU stands still for {:.0f} ns after waits and for {:.0f} ns in blocking "
      "calls, and copies alone for {:.0f} ns ({:.0f} ns of that pageable), of which {:.0f} ns "
      "could "
      "go: {:.0f} / {:.0f} = {:.2f}",
      span, lost.waiting, lost.blocked, static_cast<double>(time.exposed_copy_ns),
      static_cast<double>(time.exposed_pageable_ns), lost.copying, span, span - lost.all(), gain);
  return program_finding_if_worth(std::move(finding), gain, limits);
}

}  // namespace

Tool host_waits_tool() {
  return {"host_waits", "Host synchronization and copies", {}, {}, look_for_host_waits};
}

}  // namespace kernelpro
