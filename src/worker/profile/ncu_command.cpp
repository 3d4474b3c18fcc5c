#include "worker/profile/ncu_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace kernelpro {

namespace {

// A name as a regular expression; '$' and '.' come from the compiler's own suffixes, the others
// from names that no C++ compiler made.
std::string escaped(const std::string& name) {
  constexpr std::string_view special = R"($.^|()[]{}*+?\)";
  std::string out;
  for (const char letter : name) {
    if (special.find(letter) != std::string_view::npos) {
      out += '\\';
    }
    out += letter;
  }
  return out;
}

std::string name_filter(const std::vector<std::string>& kernels) {
  std::vector<std::string> parts;
  parts.reserve(kernels.size());
  for (const std::string& kernel : kernels) {
    parts.push_back(escaped(kernel));
  }
  return fmt::format("regex:^({})$", fmt::join(parts, "|"));
}

}  // namespace

const std::vector<std::string>& ncu_rule_sections() {
  static const std::vector<std::string> sections = {"SpeedOfLight",
                                                    "LaunchStats",
                                                    "Occupancy",
                                                    "WarpStateStats",
                                                    "SchedulerStats",
                                                    "MemoryWorkloadAnalysis",
                                                    "MemoryWorkloadAnalysis_Tables",
                                                    "ComputeWorkloadAnalysis",
                                                    "InstructionStats",
                                                    "WorkloadDistribution"};
  return sections;
}

std::vector<std::string> ncu_profile_command(const std::string& ncu, const NcuWish& wish) {
  // Clocks are left as they are: what was timed ran at these.
  std::vector<std::string> out = {ncu,
                                  "--clock-control",
                                  "none",
                                  "--kernel-name-base",
                                  "mangled",
                                  "--kernel-name",
                                  name_filter(wish.window.kernels),
                                  "--launch-skip-before-match",
                                  std::to_string(wish.window.skip),
                                  "--launch-count",
                                  std::to_string(wish.window.count),
                                  "--disable-profiler-start-stop",
                                  "--kill",
                                  "yes",
                                  "--force-overwrite",
                                  "--export",
                                  wish.report};
  out.insert(out.end(), {"--cache-control", wish.cold ? "all" : "none"});
  if (!wish.metrics.empty()) {
    out.insert(out.end(), {"--metrics", fmt::format("{}", fmt::join(wish.metrics, ","))});
  }
  if (wish.source) {
    out.insert(out.end(), {"--section", "SourceCounters"});
  }
  if (wish.rules) {
    for (const std::string& section : ncu_rule_sections()) {
      out.insert(out.end(), {"--section", section});
    }
  }
  out.insert(out.end(), {"--apply-rules", wish.rules ? "yes" : "no"});
  return out;
}

std::vector<std::string> ncu_page_command(const std::string& ncu, const std::string& report,
                                          NcuPage page) {
  std::vector<std::string> out = {
      ncu,       "--import", report, "--csv", "--print-units", "base", "--print-kernel-base",
      "mangled", "--page"};
  switch (page) {
    case NcuPage::raw:
      out.emplace_back("raw");
      break;
    case NcuPage::source:
      out.insert(out.end(), {"source", "--print-source", "cuda,sass"});
      break;
    case NcuPage::source_without_lines:
      out.insert(out.end(), {"source", "--print-source", "sass"});
      break;
    case NcuPage::details:
      out.emplace_back("details");
      break;
  }
  return out;
}

}  // namespace kernelpro
