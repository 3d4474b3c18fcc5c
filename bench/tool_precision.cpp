// How right the micro-profiling tools are: each tool on each captured case of bench/defects.
//
//   tool_precision cases.jsonl [--labels list.jsonl] [--half calibration|held-out|all] [--list]
//
// A defect is a case that is labeled so and by measurement gains 10 % without it. Where one that
// is labeled clean takes 10 % longer than its twin, its own tool is not judged on it. Thresholds
// were set on the calibration half; what counts is the held-out one. Tools alone, and end to end
// with the filter of stage 1, where a defect hidden by a wrong class is a miss. Beside them ncu's
// own rules on the cases that they were captured for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/model/statistics.hpp"
#include "must.hpp"
#include "score.hpp"
#include "support/defect_cases.hpp"
#include "worker/diagnose/diagnose.hpp"
#include "worker/diagnose/tools/tool.hpp"

namespace {

using nlohmann::json;
using namespace kernelpro;

struct Way {
  std::map<std::string, Score> scores;           // by tool
  std::set<std::string> launches;                // that were judged
  std::vector<std::pair<double, double>> gains;  // predicted, measured, of defects that were found
};

// Whether its launch was not judged yet.
bool take_launch(const DefectCase& one, Way& way) {
  const std::string launch = profiled_launch(one);
  return launch.empty() || way.launches.insert(launch).second;
}

void judge_case(const DefectCase& one, bool all_tools, bool list, Way& way) {
  const bool new_launch = take_launch(one, way);
  const DiagnosisReport report = diagnose(one.profile, {all_tools, {}});
  std::map<std::string, double> found;
  for (const Finding& finding : report.findings) {
    double& gain = found[finding.tool];
    gain = std::max(gain, finding.predicted_gain);
  }
  const bool there = is_defect(one);
  for (const Tool& tool : kernelpro::all_tools()) {
    const bool own = tool.id == one.tool;
    const bool also = std::find(one.also.begin(), one.also.end(), tool.id) != one.also.end();
    if (own ? is_disputed(one) : (also || (!tool.reads_program() && !new_launch))) {
      continue;  // not measured, or judged already: neither right nor wrong
    }
    count(way.scores[tool.id], own && there, found.contains(tool.id));
    if (list && ((own && there) || found.contains(tool.id))) {
      std::fprintf(
          stderr, "%-9s %-22s %-60s gain %.2f predicted %.2f class %s\n",
          !found.contains(tool.id) ? "missed" : (own && there ? "right" : "wrong"), tool.id.c_str(),
          one.name.c_str(), one.gain, found.contains(tool.id) ? found[tool.id] : 1.0,
          std::string(name_of(report.kernels.empty() ? report.kind : report.kernels.front().kind))
              .c_str());
    }
  }
  if (there && found.contains(one.tool)) {
    way.gains.emplace_back(found[one.tool], one.gain);
  } else if (there) {
    way.gains.emplace_back(1.0, one.gain);
  }
}

// The tool of ours that would say what this rule of ncu's says; empty: none.
std::string tool_of(const RuleNote& note) {
  static const std::map<std::string, std::string> by_rule = {
      {"UncoalescedGlobalAccess", "uncoalesced_access"},
      {"MemoryCacheAccessPattern", "uncoalesced_access"},
      {"SharedMemoryConflicts", "bank_conflicts"},
      {"UncoalescedSharedAccess", "bank_conflicts"},
      {"TheoreticalOccupancy", "occupancy_limiter"},
      {"LaunchConfiguration", "block_shortage"},
      {"WorkloadImbalance", "block_shortage"}};
  const auto says = [&note](const char* words) {
    return note.text.find(words) != std::string::npos;
  };
  if (note.rule == "CPIStall") {
    return says("barrier") ? "barrier_stalls" : (says("L1TEX") ? "long_scoreboard" : "");
  }
  if (note.rule == "MemoryCacheAccessPattern" && says("for local")) {
    return "register_spills";
  }
  const auto found = by_rule.find(note.rule);
  return found == by_rule.end() ? "" : found->second;
}

// By the same measure as ours: a rule speaks where it promises a tenth or more.
void judge_rules(const DefectCase& one, Way& way) {
  constexpr double least_percent = 10;
  const bool new_launch = take_launch(one, way);
  std::set<std::string> found;
  for (const RuleNote& note : one.profile.kernels.front().rules) {
    if (note.speedup_percent.value_or(0) >= least_percent) {
      found.insert(tool_of(note));
    }
  }
  for (const Tool& tool : kernelpro::all_tools()) {
    const bool own = tool.id == one.tool;
    const bool also = std::find(one.also.begin(), one.also.end(), tool.id) != one.also.end();
    if (own ? !is_disputed(one) : (!also && (tool.reads_program() || new_launch))) {
      count(way.scores[tool.id], own && is_defect(one), found.contains(tool.id));
    }
  }
}

json to_json(const Way& way) {
  json tools = json::object();
  Score all;
  for (const auto& [tool, score] : way.scores) {
    tools[tool] = to_json(score);
    all += score;
  }
  return {{"tools", tools},
          {"overall", to_json(all)},
          {"gain_rank_correlation", rank_correlation(way.gains)},
          {"gains", way.gains.size()}};
}

bool right_class(const DefectCase& one, KernelClass kind) {
  return std::find(one.classes.begin(), one.classes.end(), std::string(name_of(kind))) !=
         one.classes.end();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    give_up("tool_precision cases.jsonl [--half calibration|held-out|all] [--list]");
  }
  std::string half = "held-out";
  std::map<std::string, json> labels;
  bool list = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (std::strcmp(argv[i], "--labels") == 0 && i + 1 < argc) {
      labels = parse_labels(must(read_file(argv[++i])));
    } else if (std::strcmp(argv[i], "--half") == 0 && i + 1 < argc) {
      half = argv[++i];
    }
  }
  const std::vector<DefectCase> cases = must(parse_defect_cases(must(read_file(argv[1])), labels));
  Way alone;
  Way filtered;
  Way rules;
  int ruled = 0;
  int judged = 0;
  int classes = 0;
  int right_classes = 0;
  int defects = 0;
  int disputed = 0;
  const std::int64_t start = now_ns();
  for (const DefectCase& one : cases) {
    if (half != "all" && is_for_calibration(one.name) != (half == "calibration")) {
      continue;
    }
    ++judged;
    defects += is_defect(one) ? 1 : 0;
    if (one.defective && !is_defect(one)) {
      std::fprintf(stderr, "no defect  %-60s gain %.2f\n", one.name.c_str(), one.gain);
    }
    disputed += is_disputed(one) ? 1 : 0;
    if (list && is_disputed(one)) {
      std::fprintf(stderr, "disputed   %-60s gain %.2f\n", one.name.c_str(), one.gain);
    }
    judge_case(one, true, list, alone);
    judge_case(one, false, false, filtered);
    if (!one.profile.kernels.empty() && !one.profile.kernels.front().rules.empty()) {
      judge_rules(one, rules);
      ++ruled;
    }
    const DiagnosisReport report = diagnose(one.profile);
    const KernelClass kind = report.kind == KernelClass::launch || report.kernels.empty()
                                 ? report.kind
                                 : report.kernels.front().kind;
    // A sequence whose kernels were not counted has a class only where the GPU waits.
    const bool classified = kind != KernelClass::unknown;
    const bool right = right_class(one, kind);
    classes += classified ? 1 : 0;
    right_classes += right ? 1 : 0;
    if (list && classified && !right) {
      std::fprintf(
          stderr, "class     %-60s is %s, expected %s: %s\n", one.name.c_str(),
          std::string(name_of(kind)).c_str(), json(one.classes).dump().c_str(),
          (report.kernels.empty() ? report.reason : report.kernels.front().reason).c_str());
    }
  }
  const double seconds = static_cast<double>(now_ns() - start) / 1e9;
  json out = {{"half", half},
              {"cases", judged},
              {"defects", defects},
              {"disputed", disputed},
              {"class", rate(right_classes, classes)},
              {"tools_alone", to_json(alone)},
              {"end_to_end", to_json(filtered)},
              {"milliseconds_a_diagnosis", 1e3 * seconds / std::max(3 * judged, 1)}};
  if (ruled > 0) {
    out["ncu_rules"] = to_json(rules);
    out["ncu_rules"]["cases"] = ruled;
    out["ncu_rules"].erase("gain_rank_correlation");
    out["ncu_rules"].erase("gains");
  }
  std::printf("%s\n", out.dump(1).c_str());
  return 0;
}
