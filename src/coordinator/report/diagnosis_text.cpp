#include "coordinator/report/diagnosis_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/printable.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t widest = 100;
constexpr std::size_t label_width = 9;
constexpr std::size_t longest_rule = 240;

// "  label    text", the text in lines of its own column.
std::string labeled(const std::string& label, const std::string& text, std::size_t indent) {
  return fmt::format("{}{}{}\n", std::string(indent, ' '),
                     label + std::string(label_width - std::min(label_width, label.size()), ' '),
                     wrapped(text, indent + label_width));
}

std::string table_text(std::vector<std::string> header, const Rows& rows, std::size_t indent) {
  Table table(std::move(header));
  for (const std::vector<std::string>& row : rows) {
    table.add(row);
  }
  const std::string margin(indent, ' ');
  std::string out;
  std::string line;
  for (const char c : table.text()) {
    line += c;
    if (c == '\n') {
      out += margin + line;
      line.clear();
    }
  }
  return out;
}

std::string head_text(const Diagnosed& diagnosed) {
  const Profile& profile = diagnosed.profile;
  std::string out = printable(profile.program) + "\n";
  if (!profile.counters.empty()) {
    out += labeled("counters", "not read: " + profile.counters, 2);
  }
  std::string device = profile.device.empty() ? "not known" : profile.device;
  if (!profile.architecture.empty()) {
    device += " (" + profile.architecture + ")";
  }
  out += labeled("device", device, 2);
  if (profile.host) {
    out += labeled("threads", threads_text(*profile.host), 2);
    out += labeled("evidence", evidence_text(*profile.host), 2);
  }
  if (profile.trace) {
    out += labeled("timeline", timeline_text(*profile.trace), 2);
  }
  std::string kind(name_of(diagnosed.report.kind));
  if (!diagnosed.report.reason.empty()) {
    kind += ": " + diagnosed.report.reason;
  }
  out += labeled("class", kind, 2);
  return out;
}

std::string launches_text(const KernelProfile& kernel) {
  const std::string grid =
      "grid " + extent_text(kernel.grid) + ", block " + extent_text(kernel.block);
  if (kernel.launches == 0) {
    return fmt::format("{}, {}", duration_text(kernel.duration_ns), grid);
  }
  return kernel.launches == 1
             ? fmt::format("1 launch of {}, {}", duration_text(kernel.duration_ns), grid)
             : fmt::format("{} launches of {}, {}", kernel.launches,
                           duration_text(kernel.duration_ns), grid);
}

std::string bar_text(double share) {
  constexpr int columns = 20;
  const int filled = static_cast<int>(std::lround(columns * std::clamp(share, 0.0, 1.0)));
  std::string out;
  for (int i = 0; i < columns; ++i) {
    out += i < filled ? "█" : "·";
  }
  return out;
}

std::string roofs_text(const KernelDiagnosis& kernel, bool raw) {
  std::string out;
  for (const RoofUse& roof : shown_roofs(kernel, raw)) {
    out += fmt::format("  {:<9}{} {:>5}  {:<12} {}\n", out.empty() ? "roofs" : "",
                       bar_text(std::isfinite(roof.share) ? roof.share : 0),
                       percent_text(roof.share), printable(roof.roof), wrapped(roof.text, 53));
  }
  return out;
}

std::string rules_text(const KernelProfile& kernel, bool raw) {
  std::string out;
  for (const RuleNote& rule : shown_rules(kernel, raw)) {
    const std::string text = raw ? rule.text : shortened(printable(rule.text), longest_rule);
    out += labeled("", rule.rule + estimate_text(rule) + ": " + text, 2);
  }
  return out.empty() ? "" : "  ncu's own rules say\n" + out;
}

std::string raw_text(const KernelProfile& kernel) {
  std::string out;
  if (const Rows rows = figure_rows(kernel); !rows.empty()) {
    out += table_text({"figure", "value", "origin"}, rows, 4);
  }
  if (const Rows rows = stall_rows(kernel); !rows.empty()) {
    out += table_text({"stall", "samples", "share"}, rows, 4);
  }
  for (const std::vector<std::string>& row : missing_rows(kernel)) {
    out += labeled("missing", row[0] + ": " + row[1], 4);
  }
  return out;
}

std::string kernel_text(const Diagnosed& diagnosed, std::size_t index, bool raw) {
  const KernelDiagnosis& kernel = diagnosed.report.kernels[index];
  const KernelProfile* profile = profile_of(diagnosed, index);
  std::string out =
      fmt::format("\n{}: {} of {} time\n",
                  raw ? printable(kernel.kernel) : short_kernel_name(kernel.kernel, widest - 32),
                  percent_text(kernel.share), diagnosed.profile.host ? "the" : "the kernels'");
  if (profile != nullptr && !diagnosed.profile.host) {
    out += labeled("launches", launches_text(*profile), 2);
  }
  out += labeled("class",
                 fmt::format("{}, confidence {}: {}", name_of(kernel.kind),
                             percent_text(kernel.confidence), kernel.reason),
                 2);
  out += roofs_text(kernel, raw);
  for (const std::string& missing : kernel.not_available) {
    out += labeled("lacking", missing, 2);
  }
  for (const auto& [tools, reason] : skipped_by_reason(kernel)) {
    out += labeled("skipped", fmt::format("{} ({})", tools, reason), 2);
  }
  if (profile != nullptr) {
    out += rules_text(*profile, raw);
    out += raw ? raw_text(*profile) : "";
  }
  return out;
}

std::string lines_text(const Finding& finding, const Profile& profile) {
  std::string out;
  for (const FoundLine& line : lines_of(finding, profile)) {
    const std::string samples = samples_text(line);
    out += labeled("source", line.place + (samples.empty() ? "" : "  (" + samples + ")"), 3);
    if (!line.text.empty()) {
      const std::size_t indent = 3 + label_width + 2;
      out += std::string(indent, ' ') + shortened(line.text, widest - indent) + "\n";
    }
  }
  return out;
}

std::string finding_text(const Finding& finding, const Profile& profile, std::size_t number) {
  const std::string label = fmt::format("{}. ", number);
  std::string out = "\n" + label +
                    wrapped(fmt::format("{} [{}, predicted gain {:.2f}]", finding.title,
                                        name_of(finding.severity), finding.predicted_gain),
                            label.size()) +
                    "\n";
  const std::string where = finding.kernel.empty() ? "the program as a whole"
                                                   : short_kernel_name(finding.kernel, widest - 40);
  out += labeled("where", fmt::format("{}, by {}", where, finding.tool), 3);
  out += labeled("seen", observed_text(finding), 3);
  out += labeled("cause", finding.cause, 3);
  for (std::size_t i = 0; i < finding.moves.size(); ++i) {
    out += labeled(i == 0 ? "do" : "or", move_text(finding.moves[i]), 3);
  }
  out += labeled("gain", finding.derivation, 3);
  return out + lines_text(finding, profile);
}

std::string findings_text(const Diagnosed& diagnosed) {
  const std::vector<Finding>& findings = diagnosed.report.findings;
  if (findings.empty()) {
    return "\nno findings: none of the tools that ran saw its defect\n";
  }
  std::string out = "\nfindings, the largest predicted gain first\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    out += finding_text(findings[i], diagnosed.profile, i + 1);
  }
  return out;
}

}  // namespace

std::string diagnosis_text(const Diagnosed& diagnosed, bool raw) {
  std::string out = head_text(diagnosed);
  for (std::size_t i = 0; i < diagnosed.report.kernels.size(); ++i) {
    out += kernel_text(diagnosed, i, raw);
  }
  out += findings_text(diagnosed);
  const std::string seconds = seconds_text(diagnosed);
  return out + (seconds.empty() ? "" : "\nit took " + seconds + "\n");
}

}  // namespace kernelpro
