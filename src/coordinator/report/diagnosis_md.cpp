#include "coordinator/report/diagnosis_md.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/markdown.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t longest_name = 80;

// Plain text: template arguments are no tags.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Between backquotes, of which a text may have any number itself.
std::string code(const std::string& text) {
  const std::string shown = printable(text);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : shown) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string ticks(longest + 1, '`');
  return longest == 0 ? ticks + shown + ticks : ticks + " " + shown + " " + ticks;
}

std::string head(const Diagnosed& diagnosed) {
  const Profile& profile = diagnosed.profile;
  std::string out = "# Diagnosis of " + code(profile.program) + "\n\n";
  if (!profile.counters.empty()) {
    out += "> Counters were not read: " + plain(profile.counters) + "\n\n";
  }
  if (profile.host) {
    out += "> " + plain(threads_text(*profile.host)) +
           "\n>\n> Evidence: " + plain(evidence_text(*profile.host)) + "\n\n";
  }
  Rows rows = {{"device", plain(profile.device.empty() ? "not known" : profile.device)},
               {"architecture", plain(profile.architecture)},
               {"timeline", profile.trace ? plain(timeline_text(*profile.trace)) : ""},
               {"class", fmt::format("**{}**: {}", name_of(diagnosed.report.kind),
                                     plain(diagnosed.report.reason))},
               {"took", seconds_text(diagnosed)}};
  std::erase_if(rows, [](const std::vector<std::string>& row) { return row[1].empty(); });
  return out + markdown_table({"", ""}, rows);
}

std::string raw_part(const KernelProfile& kernel) {
  std::string out;
  if (const Rows rows = figure_rows(kernel); !rows.empty()) {
    out += "\n" + markdown_table({"figure", "value", "origin"}, rows);
  }
  if (const Rows rows = stall_rows(kernel); !rows.empty()) {
    out += "\n" + markdown_table({"stall", "samples", "share"}, rows);
  }
  if (const Rows rows = missing_rows(kernel); !rows.empty()) {
    out += "\n" + markdown_table({"missing", "why"}, rows);
  }
  return out;
}

std::string rules_part(const KernelProfile& kernel, bool raw) {
  std::string out;
  for (const RuleNote& rule : shown_rules(kernel, raw)) {
    out += "- " + code(rule.rule) + estimate_text(rule) + ": " + plain(rule.text) + "\n";
  }
  return out.empty() ? "" : "\nncu's own rules:\n\n" + out;
}

std::string kernel_part(const Diagnosed& diagnosed, std::size_t index, bool raw) {
  const KernelDiagnosis& kernel = diagnosed.report.kernels[index];
  const KernelProfile* profile = profile_of(diagnosed, index);
  std::string out = "\n### " +
                    code(raw ? kernel.kernel : short_kernel_name(kernel.kernel, longest_name)) +
                    "\n\n" +
                    fmt::format("**{}**, confidence {}: {}\n", name_of(kernel.kind),
                                percent_text(kernel.confidence), plain(kernel.reason));
  Rows roofs;
  for (const RoofUse& roof : shown_roofs(kernel, raw)) {
    roofs.push_back({plain(roof.roof), percent_text(roof.share), plain(roof.text)});
  }
  if (!roofs.empty()) {
    out += "\n" + markdown_table({"roof", "used", "against what was measured here"}, roofs);
  }
  std::string notes;
  for (const std::string& missing : kernel.not_available) {
    notes += "- lacking: " + plain(missing) + "\n";
  }
  for (const auto& [tools, reason] : skipped_by_reason(kernel)) {
    notes += fmt::format("- skipped: {} ({})\n", plain(tools), plain(reason));
  }
  out += notes.empty() ? "" : "\n" + notes;
  if (profile != nullptr) {
    out += rules_part(*profile, raw);
    out += raw ? raw_part(*profile) : "";
  }
  return out;
}

std::string each_kernel(const Diagnosed& diagnosed, bool raw) {
  std::string out;
  for (std::size_t i = 0; i < diagnosed.report.kernels.size(); ++i) {
    out += kernel_part(diagnosed, i, raw);
  }
  return out;
}

// Of a program on processors, which has no launches.
std::string functions_part(const Diagnosed& diagnosed, bool raw) {
  Rows rows;
  for (const KernelDiagnosis& function : diagnosed.report.kernels) {
    rows.push_back({code(short_kernel_name(function.kernel, longest_name)),
                    percent_text(function.share), std::string(name_of(function.kind))});
  }
  return "\n## Functions\n\n" + markdown_table({"function", "share", "class"}, rows) +
         each_kernel(diagnosed, raw);
}

std::string kernels_part(const Diagnosed& diagnosed, bool raw) {
  const std::vector<KernelDiagnosis>& kernels = diagnosed.report.kernels;
  if (kernels.empty()) {
    return "";
  }
  if (diagnosed.profile.host) {
    return functions_part(diagnosed, raw);
  }
  Rows rows;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelProfile* profile = profile_of(diagnosed, i);
    const bool known = profile != nullptr;
    rows.push_back(
        {code(short_kernel_name(kernels[i].kernel, longest_name)), percent_text(kernels[i].share),
         known ? std::to_string(profile->launches) : "",
         known ? duration_text(profile->duration_ns) : "", known ? extent_text(profile->grid) : "",
         known ? extent_text(profile->block) : "", std::string(name_of(kernels[i].kind))});
  }
  return "\n## Kernels\n\n" +
         markdown_table({"kernel", "share", "launches", "time", "grid", "block", "class"}, rows) +
         each_kernel(diagnosed, raw);
}

std::string finding_part(const Finding& finding, const Profile& profile, std::size_t number) {
  std::string out = fmt::format("\n### {}. {}\n\n", number, plain(finding.title));
  const std::string where = finding.kernel.empty()
                                ? "the program as a whole"
                                : code(short_kernel_name(finding.kernel, longest_name));
  out += fmt::format("- **predicted gain {:.2f}** ({}): {}\n", finding.predicted_gain,
                     name_of(finding.severity), plain(finding.derivation));
  out += "- where: " + where + ", by " + code(finding.tool) + "\n";
  out += "- seen: " + plain(observed_text(finding)) + "\n";
  out += "- cause: " + plain(finding.cause) + "\n";
  for (const FoundLine& line : lines_of(finding, profile)) {
    const std::string samples = samples_text(line);
    out += "- source: " + code(line.place) + (line.text.empty() ? "" : " " + code(line.text)) +
           (samples.empty() ? "" : " (" + samples + ")") + "\n";
  }
  for (std::size_t i = 0; i < finding.moves.size(); ++i) {
    out += fmt::format("{}{}. {}\n", i == 0 ? "\nWhat to do:\n\n" : "", i + 1,
                       plain(move_text(finding.moves[i])));
  }
  return out;
}

}  // namespace

std::string diagnosis_markdown(const Diagnosed& diagnosed, bool raw) {
  const std::vector<Finding>& findings = diagnosed.report.findings;
  std::string out = head(diagnosed) + kernels_part(diagnosed, raw) + "\n## Findings\n";
  if (findings.empty()) {
    out += "\nNone of the tools that ran saw its defect.\n";
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    out += finding_part(findings[i], diagnosed.profile, i + 1);
  }
  return out;
}

}  // namespace kernelpro
