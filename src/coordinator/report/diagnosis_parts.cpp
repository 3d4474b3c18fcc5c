#include "coordinator/report/diagnosis_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "common/base/printable.hpp"
#include "common/model/timeline.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t longest_place = 60;

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The byte at which column `column` begins.
std::size_t byte_of_column(const std::string& text, std::size_t column) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && column-- == 0) {
      break;
    }
  }
  return at;
}

std::string place_text(const SourcePlace& place) {
  std::string file = printable(place.file);
  if (const std::size_t width = display_width(file); width > longest_place) {
    file = "…" + file.substr(byte_of_column(file, width - longest_place + 1));
  }
  if (file.empty()) {
    file = "?";
  }
  return place.line > 0 ? fmt::format("{}:{}", file, place.line) : file;
}

double total_samples(const KernelProfile& kernel) {
  double total = 0;
  for (const auto& [reason, samples] : kernel.stalls) {
    total += samples;
  }
  return total;
}

const HotLine* hot_line(const KernelProfile& kernel, const SourcePlace& place) {
  const auto found = std::ranges::find_if(kernel.lines, [&](const HotLine& line) {
    return line.place.line == place.line && line.place.file == place.file;
  });
  return found == kernel.lines.end() ? nullptr : &*found;
}

std::string bytes_text(double bytes) {
  constexpr double step = 1000;
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (bytes < step) {
      break;
    }
    bytes /= step;
    unit = next;
  }
  return fmt::format("{:.3g} {}", bytes, unit);
}

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string copies_text(const Timeline& timeline) {
  std::int64_t count = 0;
  double bytes = 0;
  for (const CopySum& copies : timeline.copies) {
    count += copies.count;
    bytes += static_cast<double>(copies.bytes);
  }
  return count == 0 ? "" : ", " + counted(count, "copy", "copies") + " of " + bytes_text(bytes);
}

}  // namespace

std::string shortened(const std::string& text, std::size_t width) {
  const std::size_t columns = display_width(text);
  if (columns <= width || width < 2) {
    return text;
  }
  const std::size_t head = width / 2;
  const std::size_t tail = width - 1 - head;
  return text.substr(0, byte_of_column(text, head)) + "…" +
         text.substr(byte_of_column(text, columns - tail));
}

std::string short_kernel_name(const std::string& name, std::size_t width) {
  std::string plain = printable(name);
  if (display_width(plain) <= width) {
    return plain;
  }
  // Of "void f<…>(…)" the function's own name says most, whatever hides it from other files.
  constexpr std::string_view hidden = "(anonymous namespace)::";
  for (std::size_t at = plain.find(hidden); at != std::string::npos; at = plain.find(hidden)) {
    plain.erase(at, hidden.size());
  }
  const std::size_t end = plain.find_first_of("<(");
  if (end == std::string::npos || end == 0) {
    return shortened(plain, width);
  }
  const std::size_t space = plain.rfind(' ', end);
  const std::size_t begin = space == std::string::npos ? 0 : space + 1;
  const std::string base = plain.substr(begin, end - begin);
  return shortened(plain[end] == '<' ? base + "<…>" : base, width);
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  const std::string margin = "\n" + std::string(indent, ' ');
  std::istringstream words(printable(text));
  std::string out;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    const std::size_t columns = display_width(word);
    if (!out.empty() && column + 1 + columns > width) {
      out += margin;
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
  }
  return out;
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) {
    return "–";
  }
  const double percent = 100 * share;
  return percent > 0 && percent < 1 ? fmt::format("{:.1f} %", percent)
                                    : fmt::format("{:.0f} %", percent);
}

std::string amount_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string extent_text(const Extent& extent) {
  return fmt::format("{}×{}×{}", extent[0], extent[1], extent[2]);
}

std::string timeline_text(const Trace& trace) {
  const Timeline timeline = make_timeline(trace);
  const double busy = timeline.span_ns > 0 ? static_cast<double>(timeline.busy_ns) /
                                                 static_cast<double>(timeline.span_ns)
                                           : 0;
  std::string out = fmt::format(
      "{} traced, GPU busy {}, {}", duration_text(static_cast<double>(timeline.span_ns)),
      percent_text(busy), counted(std::ssize(trace.launches), "launch", "launches"));
  out += copies_text(timeline);
  if (timeline.synchronizing.count > 0) {
    out += fmt::format(", {} of {}",
                       counted(timeline.synchronizing.count, "synchronization", "synchronizations"),
                       duration_text(static_cast<double>(timeline.synchronizing.total_ns)));
  }
  if (!trace.complete) {
    out += "; the trace is not complete" + (trace.problem.empty() ? "" : ": " + trace.problem);
  }
  return printable(out);
}

std::string threads_text(const HostRun& run) {
  double working = 0;
  double waiting = 0;
  for (const ThreadTime& thread : run.threads) {
    working += thread.working;
    waiting += thread.waiting;
  }
  const double all = working + waiting;
  std::string out = fmt::format(
      "{} on {}, {} of their time waiting for each other; {:.0f} samples in {}",
      counted(std::ssize(run.threads), "thread", "threads"),
      counted(run.processors, "processor", "processors"), percent_text(all > 0 ? waiting / all : 0),
      run.samples, duration_text(run.span_ns));
  if (run.processes > 1) {
    out += fmt::format(" of {} processes", run.processes);
  }
  if (run.call_ns > 0) {
    out += ", a call takes " + duration_text(run.call_ns);
  }
  return out + (run.ended.empty() ? "" : "; " + printable(run.ended));
}

std::string evidence_text(const HostRun& run) {
  std::string out;
  for (const std::string& one : run.evidence) {
    out += (out.empty() ? "" : "; ") + printable(one);
  }
  return out;
}

const KernelProfile* profile_of(const Diagnosed& diagnosed, std::size_t index) {
  const std::vector<KernelProfile>& kernels = diagnosed.profile.kernels;
  const std::string& name = diagnosed.report.kernels[index].kernel;
  if (index < kernels.size() && kernels[index].name == name) {
    return &kernels[index];
  }
  const auto found = std::ranges::find(kernels, name, &KernelProfile::name);
  return found == kernels.end() ? nullptr : &*found;
}

std::string observed_text(const Finding& finding) {
  std::string out = fmt::format("{} {}, held against {}", amount_text(finding.observed),
                                finding.unit, amount_text(finding.threshold));
  if (!finding.why.empty()) {
    out += ": " + finding.why;
  }
  return out;
}

std::string move_text(const std::string& move) {
  const bool name =
      move.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  return name && !move.empty() ? "the move " + move : move;
}

std::vector<FoundLine> lines_of(const Finding& finding, const Profile& profile) {
  const auto kernel = std::ranges::find(profile.kernels, finding.kernel, &KernelProfile::name);
  std::vector<FoundLine> lines;
  for (const SourcePlace& place : finding.places) {
    FoundLine line;
    line.place = place_text(place);
    const HotLine* hot = kernel == profile.kernels.end() ? nullptr : hot_line(*kernel, place);
    if (hot != nullptr) {
      const std::string text = printable(hot->text);
      const std::size_t begin = text.find_first_not_of(' ');
      line.text = begin == std::string::npos ? "" : text.substr(begin);
      line.samples = hot->samples;
      if (const double total = total_samples(*kernel); total > 0) {
        line.share = hot->samples / total;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string samples_text(const FoundLine& line) {
  if (!line.samples) {
    return "";
  }
  return fmt::format("{:.0f} samples", *line.samples) +
         (line.share ? ", " + percent_text(*line.share) : "");
}

std::vector<std::pair<std::string, std::string>> skipped_by_reason(const KernelDiagnosis& kernel) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const SkippedTool& skipped : kernel.skipped) {
    const auto group =
        std::ranges::find(groups, skipped.reason, &std::pair<std::string, std::string>::second);
    if (group == groups.end()) {
      groups.emplace_back(skipped.tool, skipped.reason);
    } else {
      group->first += ", " + skipped.tool;
    }
  }
  return groups;
}

std::vector<RoofUse> shown_roofs(const KernelDiagnosis& kernel, bool all) {
  constexpr std::size_t most = 5;
  std::vector<RoofUse> roofs = kernel.roofs;
  if (!all && roofs.size() > most) {
    roofs.resize(most);
  }
  return roofs;
}

std::string estimate_text(const RuleNote& rule) {
  return rule.speedup_percent ? fmt::format(" ({:.3g} % faster)", *rule.speedup_percent) : "";
}

std::vector<RuleNote> shown_rules(const KernelProfile& kernel, bool all) {
  std::vector<RuleNote> rules;
  for (const RuleNote& rule : kernel.rules) {
    if (all || rule.speedup_percent) {
      rules.push_back(rule);
    }
  }
  std::sort(rules.begin(), rules.end(), [](const RuleNote& a, const RuleNote& b) {
    const double gain_a = a.speedup_percent.value_or(0);
    const double gain_b = b.speedup_percent.value_or(0);
    return gain_a != gain_b ? gain_a > gain_b : a.rule < b.rule;
  });
  return rules;
}

std::string seconds_text(const Diagnosed& diagnosed) {
  std::string out;
  for (const auto& [step, seconds] : diagnosed.seconds) {
    out += fmt::format("{}{} {:.2f} s", out.empty() ? "" : ", ", printable(step), seconds);
  }
  return out;
}

Rows figure_rows(const KernelProfile& kernel) {
  Rows rows;
  for (const auto& [key, figure] : kernel.figures) {
    rows.push_back(
        {printable(key), amount_text(figure.value), std::string(name_of(figure.origin))});
  }
  return rows;
}

Rows missing_rows(const KernelProfile& kernel) {
  Rows rows;
  for (const auto& [key, why] : kernel.missing) {
    rows.push_back({printable(key), printable(why)});
  }
  return rows;
}

Rows stall_rows(const KernelProfile& kernel) {
  std::vector<std::pair<std::string, double>> stalls(kernel.stalls.begin(), kernel.stalls.end());
  std::sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const double total = total_samples(kernel);
  Rows rows;
  for (const auto& [reason, samples] : stalls) {
    rows.push_back(
        {printable(reason), amount_text(samples), percent_text(total > 0 ? samples / total : 0)});
  }
  return rows;
}

}  // namespace kernelpro
