#include "coordinator/html/diagnosis_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "coordinator/html/findings_view.hpp"
#include "coordinator/html/page.hpp"
#include "coordinator/html/roofline_data.hpp"
#include "coordinator/html/source_view.hpp"
#include "coordinator/report/diagnosis_parts.hpp"
#include "coordinator/report/sentences.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro::html {

namespace {

Markup profile_facts(const Diagnosed& diagnosed) {
  const Profile& profile = diagnosed.profile;
  const DiagnosisReport& report = diagnosed.report;
  Rows rows = {
      {"program", profile.program},
      {"device",
       profile.device + (profile.architecture.empty() ? "" : " (" + profile.architecture + ")")},
      {"counters", profile.counters.empty() ? "" : "not read: " + profile.counters},
      {"threads", profile.host ? threads_text(*profile.host) : ""},
      {"evidence", profile.host ? evidence_text(*profile.host) : ""},
      {"timeline", profile.trace ? timeline_text(*profile.trace) : ""},
      {"class",
       std::string(name_of(report.kind)) + (report.reason.empty() ? "" : ": " + report.reason)},
      {"took", seconds_text(diagnosed)}};
  std::erase_if(rows, [](const std::vector<std::string>& row) { return row[1].empty(); });
  return table({}, rows);
}

Markup profile_roofline(const Profile& profile) {
  const NamedPlot named = roofline_of(profile);
  const Markup drawing = roofline_picture(named.plot);
  return drawing.empty()
             ? note(
                   "There is none: neither counters nor a task say how much arithmetic there was, "
                   "or no ceilings were measured. The bars below show how far each roof is used.")
             : note(named.note + (profile.host ? " The ring is the main function."
                                               : " The ring is the main kernel.")) +
                   drawing;
}

Markup kernel_part(const Diagnosed& diagnosed, std::size_t index) {
  const KernelDiagnosis& kernel = diagnosed.report.kernels[index];
  const KernelProfile* profile = profile_of(diagnosed, index);
  Markup out = heading(kernel.kernel);
  const bool host = diagnosed.profile.host.has_value();
  out += paragraph(fmt::format("{} of {} time; {}, confidence {}: {}", percent_text(kernel.share),
                               host ? "the" : "the kernels'", name_of(kernel.kind),
                               percent_text(kernel.confidence), kernel.reason));
  if (profile != nullptr && !host) {
    out += note(fmt::format("{} launches, {} each, grid {}, block {}", profile->launches,
                            duration_text(profile->duration_ns), extent_text(profile->grid),
                            extent_text(profile->block)));
  }
  out += roofs_view(kernel.roofs);
  for (const std::string& missing : kernel.not_available) {
    out += note("lacking: " + missing);
  }
  for (const auto& [tools, reason] : skipped_by_reason(kernel)) {
    out += note(fmt::format("skipped: {} ({})", tools, reason));
  }
  return out;
}

Markup kernels_part(const Diagnosed& diagnosed) {
  Markup out;
  for (std::size_t i = 0; i < diagnosed.report.kernels.size(); ++i) {
    out += kernel_part(diagnosed, i);
  }
  return out;
}

Markup lines_view(const Finding& finding, const Profile& profile) {
  std::vector<KnownLine> lines;
  for (const FoundLine& line : lines_of(finding, profile)) {
    lines.push_back({line.place, line.text, samples_text(line), true});
  }
  return known_lines(lines);
}

Markup all_findings(const Diagnosed& diagnosed) {
  const std::vector<Finding>& findings = diagnosed.report.findings;
  if (findings.empty()) {
    return paragraph("None of the tools that ran saw its defect.");
  }
  Markup out;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    out += finding_view(findings[i], i + 1, lines_view(findings[i], diagnosed.profile));
  }
  return out;
}

// Where findings point, with the number of each.
using Marks = std::map<std::pair<std::string, int>, std::string>;

Marks marks_in(const DiagnosisReport& report, const std::string& kernel) {
  Marks marks;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    for (const SourcePlace& place : report.findings[i].places) {
      if (report.findings[i].kernel == kernel) {
        std::string& said = marks[{place.file, place.line}];
        said += fmt::format("{}finding {}", said.empty() ? "" : ", ", i + 1);
      }
    }
  }
  return marks;
}

// The lines that were sampled, in the order of the source, those marked that a finding points at.
Markup hot_lines(const KernelProfile& kernel, const Marks& marks) {
  double total = 0;
  for (const auto& [reason, samples] : kernel.stalls) {
    total += samples;
  }
  std::vector<const HotLine*> ordered;
  ordered.reserve(kernel.lines.size());
  for (const HotLine& line : kernel.lines) {
    ordered.push_back(&line);
  }
  std::ranges::sort(ordered, {}, [](const HotLine* line) {
    return std::tie(line->place.file, line->place.line);
  });
  std::vector<KnownLine> lines;
  for (const HotLine* line : ordered) {
    const auto mark = marks.find({line->place.file, line->place.line});
    std::string said = fmt::format("{:.0f} samples", line->samples);
    said += total > 0 ? ", " + percent_text(line->samples / total) : "";
    said += mark == marks.end() ? "" : "; " + mark->second;
    lines.push_back({fmt::format("{}:{}", line->place.file, line->place.line), line->text,
                     std::move(said), mark != marks.end()});
  }
  return known_lines(lines);
}

Markup source_part(const Diagnosed& diagnosed) {
  Markup out;
  for (const KernelProfile& kernel : diagnosed.profile.kernels) {
    if (!kernel.lines.empty()) {
      out += heading(kernel.name) + hot_lines(kernel, marks_in(diagnosed.report, kernel.name));
    }
  }
  const std::string seen =
      diagnosed.profile.host ? "Where threads were seen" : "Where warps were seen to wait";
  return out.empty() ? out
                     : note(seen +
                            ", in the order of the source; marked are the lines that findings "
                            "point at.") +
                           out;
}

Markup counters_of(const KernelProfile& kernel) {
  Markup out;
  if (const Rows rows = figure_rows(kernel); !rows.empty()) {
    out += table({"figure", "value", "origin"}, rows);
  }
  if (const Rows rows = stall_rows(kernel); !rows.empty()) {
    out += table({"stall", "samples", "share"}, rows);
  }
  if (const Rows rows = missing_rows(kernel); !rows.empty()) {
    out += table({"missing", "why"}, rows);
  }
  for (const RuleNote& rule : shown_rules(kernel, true)) {
    out += note("ncu's rule " + rule.rule + estimate_text(rule) + ": " + rule.text);
  }
  return out.empty() ? out : heading(kernel.name) + out;
}

Markup counters_part(const Profile& profile) {
  Markup out;
  for (const KernelProfile& kernel : profile.kernels) {
    out += counters_of(kernel);
  }
  return out;
}

}  // namespace

std::string diagnosis_page(const Diagnosed& diagnosed) {
  return page(
      "Diagnosis of " + diagnosed.profile.program, diagnosis_sentence(diagnosed),
      {{"facts", "At a glance", profile_facts(diagnosed)},
       {"roofline", "Roofline", profile_roofline(diagnosed.profile)},
       {"kernels", diagnosed.profile.host ? "Functions" : "Kernels", kernels_part(diagnosed)},
       {"findings", "Findings", all_findings(diagnosed)},
       {"source", "Source lines", source_part(diagnosed)},
       {"counters", "Counters", counters_part(diagnosed.profile)}});
}

}  // namespace kernelpro::html
