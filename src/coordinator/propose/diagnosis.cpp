#include "coordinator/propose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelpro {

Diagnosis diagnose(const Timing& timing) {
  constexpr double near_the_bound = 0.5;
  constexpr double started_ns = 20e3;
  Diagnosis out;
  if (timing.shapes.empty()) {
    return out;
  }
  double log_share = 0;
  double shortest_ns = HUGE_VAL;
  for (const ShapeTiming& shape : timing.shapes) {
    log_share += std::log(std::max(shape.share_of_bound, 1e-9));
    shortest_ns = std::min(shortest_ns, shape.candidate_ns);
  }
  out.share_of_bound = std::exp(log_share / static_cast<double>(timing.shapes.size()));
  const std::string& bound_by = timing.shapes.front().bound_by;
  const bool near = out.share_of_bound >= near_the_bound;
  if (shortest_ns < started_ns && !near) {
    out.bottleneck = Bottleneck::overhead;
    out.text = fmt::format("a call takes {:.0f} us: starting threads costs a good part of it",
                           shortest_ns / 1e3);
  } else if (near) {
    out.bottleneck = bound_by == "memory" ? Bottleneck::memory : Bottleneck::compute;
    out.text = fmt::format("{:.0f} % of the measured {} bound", 100 * out.share_of_bound,
                           bound_by == "memory" ? "bandwidth" : "arithmetic");
  } else {
    out.bottleneck = Bottleneck::latency;
    out.text = fmt::format("{:.0f} % of the {} bound: neither bandwidth nor arithmetic is used up",
                           100 * out.share_of_bound, bound_by);
  }
  return out;
}

namespace {

Bottleneck bottleneck_of(KernelClass kind, Bottleneck otherwise) {
  switch (kind) {
    case KernelClass::dram:
    case KernelClass::l2:
    case KernelClass::l1:
      return Bottleneck::memory;
    case KernelClass::tensor:
    case KernelClass::alu:
      return Bottleneck::compute;
    case KernelClass::latency:
    case KernelClass::tail:
      return Bottleneck::latency;
    case KernelClass::launch:
      return Bottleneck::overhead;
    case KernelClass::unknown:
      break;
  }
  return otherwise;
}

}  // namespace

Diagnosis diagnose(const Timing& timing, const DiagnosisReport& profiled) {
  Diagnosis out = diagnose(timing);
  out.kind = profiled.kind;
  out.bottleneck = bottleneck_of(profiled.kind, out.bottleneck);
  out.findings = profiled.findings;
  out.figures = profiled.figures;
  if (!profiled.reason.empty()) {
    out.text = fmt::format("{}: {}", name_of(profiled.kind), profiled.reason);
  }
  return out;
}

}  // namespace kernelpro
