#include "coordinator/propose/agents/profile_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

std::string value_text(double value, const std::string& unit) {
  return unit.empty() ? fmt::format("{:.4g}", value) : fmt::format("{:.4g} {}", value, unit);
}

std::string places_text(const std::vector<SourcePlace>& places) {
  std::vector<std::string> lines;
  for (const SourcePlace& place : places) {
    if (place.line > 0) {
      lines.push_back(fmt::format("{}:{}", place.file, place.line));
    }
  }
  return lines.empty() ? "" : fmt::format("   Lines: {}.\n", fmt::join(lines, ", "));
}

std::string finding_text(const Finding& finding, std::size_t number) {
  std::string out = fmt::format("{}. **{}** ({}, {}{}): predicted gain {}.\n", number,
                                finding.title, finding.tool, name_of(finding.severity),
                                finding.kernel.empty() ? "" : ", kernel " + finding.kernel,
                                factor_text(finding.predicted_gain));
  out += fmt::format(
      "   Observed {}, held against {}{}.\n", value_text(finding.observed, finding.unit),
      value_text(finding.threshold, finding.unit), finding.why.empty() ? "" : ": " + finding.why);
  if (!finding.cause.empty()) {
    out += fmt::format("   Cause: {}\n", finding.cause);
  }
  if (!finding.moves.empty()) {
    out += fmt::format("   To do, best first: {}.\n", fmt::join(finding.moves, "; "));
  }
  if (!finding.derivation.empty()) {
    out += fmt::format("   The prediction: {}\n", finding.derivation);
  }
  return out + places_text(finding.places);
}

std::string resources_rows(const std::vector<KernelResources>& kernels) {
  std::string rows;
  for (const KernelResources& kernel : kernels) {
    const auto row = [&rows, &kernel](const char* figure, int value, const char* unit) {
      rows += fmt::format("| {} of {} | {}{} |\n", figure, kernel.kernel, value, unit);
    };
    row("registers", kernel.registers, "");
    row("spill stores", kernel.spill_stores, " bytes");
    row("spill loads", kernel.spill_loads, " bytes");
    row("static shared memory", kernel.shared_bytes, " bytes");
    row("stack", kernel.stack_bytes, " bytes");
  }
  return rows;
}

}  // namespace

std::string class_text(const AgentOrder& order) {
  const Diagnosis& diagnosis = order.parent_tried.node.diagnosis;
  const bool profiled = diagnosis.kind != KernelClass::unknown;
  if (!profiled && diagnosis.bottleneck == Bottleneck::unknown) {
    return "";
  }
  const std::string kind(profiled ? name_of(diagnosis.kind) : name_of(diagnosis.bottleneck));
  // A profile's reason begins with the class.
  const std::string reason = diagnosis.text.starts_with(kind + ": ")
                                 ? diagnosis.text.substr(kind.size() + 2)
                                 : diagnosis.text;
  return fmt::format("Class of the bottleneck: **{}**{}{}.\n", kind, reason.empty() ? "" : ": ",
                     reason);
}

std::string findings_text(const AgentOrder& order, std::size_t most) {
  std::vector<Finding> findings = order.parent_tried.node.diagnosis.findings;
  sort_by_gain(findings);
  std::string out;
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i) {
    out += finding_text(findings[i], i + 1);
  }
  if (findings.size() > most) {
    out += fmt::format("({} of less gain left out)\n", counted(findings.size() - most, "finding"));
  }
  return out;
}

std::string resources_text(const AgentOrder& order) {
  constexpr std::size_t most = 8;
  constexpr std::size_t longest_warning = 300;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, order.parent_kernels.size()); ++i) {
    const KernelResources& kernel = order.parent_kernels[i];
    out += fmt::format(
        "- {}: {} registers a thread, {} bytes spilled, {} bytes of static shared "
        "memory\n",
        kernel.kernel, kernel.registers, kernel.spill_stores + kernel.spill_loads,
        kernel.shared_bytes);
  }
  for (const std::string& warning : order.parent_warnings) {
    out += "- " + shortened(one_line(warning), longest_warning) + "\n";
  }
  return out;
}

std::string figures_text(const AgentOrder& order) {
  std::string rows;
  const Node& node = order.parent_tried.node;
  if (node.diagnosis.share_of_bound > 0) {
    rows +=
        fmt::format("| share of the roofline's bound | {:.3g} |\n", node.diagnosis.share_of_bound);
  }
  if (order.parent_tried.verdict) {
    for (const ShapeTiming& shape : order.parent_tried.verdict->timing.shapes) {
      if (shape.launches > 0) {
        const std::string at = shape_text(order.run->task, shape.shape);
        rows += fmt::format("| launches at {} | {} |\n", at, shape.launches);
        rows += fmt::format("| time on the GPU at {} | {} |\n", at, duration_text(shape.gpu_ns));
        rows +=
            fmt::format("| cost of launching at {} | {} |\n", at, duration_text(shape.launch_ns));
      }
    }
  }
  rows += resources_rows(order.parent_kernels);
  for (const auto& [key, value] : node.diagnosis.figures) {
    rows += fmt::format("| {} | {:.4g} |\n", key, value);
  }
  // Where a profile's figures were not kept, what its findings saw.
  std::vector<Finding> findings =
      node.diagnosis.figures.empty() ? node.diagnosis.findings : std::vector<Finding>();
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.tool, a.kernel, a.observed) < std::tie(b.tool, b.kernel, b.observed);
  });
  for (const Finding& finding : findings) {
    rows += fmt::format("| {}{} | {} |\n", finding.tool,
                        finding.kernel.empty() ? "" : " of " + finding.kernel,
                        value_text(finding.observed, finding.unit));
  }
  return rows.empty() ? "" : "| figure | value |\n|---|---|\n" + rows;
}

}  // namespace kernelpro::agents
