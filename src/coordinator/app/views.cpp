#include "coordinator/app/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/app/knowledge.hpp"
#include "coordinator/propose/diagnosis.hpp"
#include "coordinator/report/sentences.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t most_evidence = 6;
constexpr std::size_t most_findings = 5;
constexpr std::size_t most_moves = 6;

nlohmann::json interval_view(const Interval& interval) {
  return {rounded(interval.low), rounded(interval.high)};
}

nlohmann::json shape_view(const ShapeTiming& shape) {
  return {{"shape", axes_text(shape.shape)},
          {"ns", rounded(shape.candidate_ns)},
          {"incumbent_ns", rounded(shape.incumbent_ns)},
          {"speedup", rounded(shape.speedup)},
          {"interval", interval_view(shape.speedup_interval)},
          {"share_of_bound", rounded(shape.share_of_bound)},
          {"bound_by", shape.bound_by}};
}

void add_timing(const Timing& timing, nlohmann::json& view) {
  for (const ShapeTiming& shape : timing.shapes) {
    view["shapes"].push_back(shape_view(shape));
  }
  view["speedup"] = rounded(timing.speedup);
  view["interval"] = interval_view(timing.speedup_interval);
  view["at_least"] = timing.at_least;
  view["share_of_bound"] = rounded(diagnose(timing).share_of_bound);
}

std::vector<std::string> first(const std::vector<std::string>& all) {
  return {all.begin(),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_evidence))};
}

nlohmann::json moves_view(Bottleneck bottleneck, Backend backend) {
  nlohmann::json list = nlohmann::json::array();
  Result<std::vector<Move>> moves = moves_of(backend);
  if (!moves) {
    return list;
  }
  std::erase_if(*moves, [bottleneck](const Move& move) {
    return std::ranges::find(move.classes, bottleneck) == move.classes.end();
  });
  const auto promise = [](const Move& move) {
    return std::pair(-move.chance * std::log(std::max(move.gain, 1.0)), move.id);
  };
  std::ranges::sort(*moves, {}, promise);
  for (const Move& move : *moves) {
    if (list.size() < most_moves) {
      list.push_back({{"id", move.id}, {"title", move.title}, {"gain", move.gain}});
    }
  }
  return list;
}

}  // namespace

double rounded(double value) {
  if (!std::isfinite(value) || value == 0) {
    return 0;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 4);
  return std::round(value / unit) * unit;
}

nlohmann::json verdict_view(const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  nlohmann::json view = {{"name", certificate.candidate.name},
                         {"outcome", name_of(verdict.outcome)},
                         {"stage", name_of(verdict.stage)},
                         {"summary", verdict.summary},
                         {"comparison", name_of(verdict.timing.comparison)},
                         {"compiler", certificate.build.compiler_identity},
                         {"flags", certificate.build.flags}};
  const auto add = [&view](const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) {
      view[key] = first(texts);
    }
  };
  add("warnings", certificate.build.warnings);
  add("evidence", verdict.evidence);
  add("suspicions", verdict.suspicions);
  add("remarks", verdict.remarks);
  if (!verdict.rule.empty()) {
    view["rule"] = verdict.rule;
  }
  if (verdict.precision != "contract") {
    view["precision"] = verdict.precision;
  }
  if (!verdict.timing.shapes.empty()) {
    add_timing(verdict.timing, view);
  }
  return view;
}

nlohmann::json findings_view(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    if (list.size() == most_findings) {
      break;
    }
    nlohmann::json lines = nlohmann::json::array();
    for (const SourcePlace& place : finding.places) {
      lines.push_back(fmt::format("{}:{}", place.file, place.line));
    }
    list.push_back({{"title", finding.title},
                    {"kernel", finding.kernel},
                    {"severity", name_of(finding.severity)},
                    {"cause", finding.cause},
                    {"lines", std::move(lines)},
                    {"gain", rounded(finding.predicted_gain)},
                    {"moves", finding.moves}});
  }
  return list;
}

nlohmann::json diagnosis_view(const Diagnosis& diagnosis, Backend backend) {
  const bool profiled = diagnosis.kind != KernelClass::unknown;
  return {{"class", profiled ? name_of(diagnosis.kind) : name_of(diagnosis.bottleneck)},
          {"text", diagnosis.text},
          {"share_of_bound", rounded(diagnosis.share_of_bound)},
          {"findings", findings_view(diagnosis.findings)},
          {"moves", moves_view(diagnosis.bottleneck, backend)}};
}

nlohmann::json run_view(const RunReport& report) {
  const Node* const best = find_node(report.nodes, report.best);
  const bool found = best != nullptr && best->id != root_node;
  return {{"run", report.run.id},
          {"task", report.run.task.name},
          {"state", name_of(report.run.state)},
          {"ended_because", report.run.ended_because},
          {"evaluations", report.evaluations},
          {"budget", report.run.settings.evaluations},
          {"best", report.best},
          {"best_speedup", found ? rounded(best->speedup) : 1.0},
          {"confirmed", report.confirmed},
          {"sentence", run_sentence(report)}};
}

}  // namespace kernelpro
