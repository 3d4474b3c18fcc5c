#include "coordinator/report/runs_table.hpp"

#include <fmt/format.h>

#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

std::string verdicts_text(const RunReport& report) {
  std::string text;
  for (const auto& [outcome, count] : report.verdicts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  }
  return text.empty() ? "none" : text;
}

std::vector<std::string> cells(const RunRow& row) {
  const RunReport& report = row.report;
  const Node* best = find_node(report.nodes, report.best);
  const Node* flags = find_node(report.nodes, report.flags_only_best);
  const bool found = report.best != root_node && best != nullptr;
  const bool timed = found && row.best && !row.best->verdict.timing.shapes.empty();
  const ShapeTiming shape = timed ? row.best->verdict.timing.shapes.front() : ShapeTiming{};
  return {report.run.task.name,
          timed ? duration_text(shape.incumbent_ns) : no_value,
          flags != nullptr && flags->id != root_node
              ? speedup_words(flags->speedup, flags->at_least)
              : no_value,
          timed ? duration_text(shape.candidate_ns) : no_value,
          found ? speedup_words(best->speedup, best->speedup_interval, best->at_least) +
                      (is_confirmed(report.run, *best) ? "" : " (not confirmed)")
                : no_value,
          found ? share_words(best->diagnosis.share_of_bound) : no_value,
          verdicts_text(report)};
}

}  // namespace

std::string runs_table(const std::vector<RunRow>& rows) {
  Table table({"task", "baseline", "flags only", "best", "speed-up", "of bound", "verdicts"});
  for (const RunRow& row : rows) {
    table.add(cells(row));
  }
  return table.text();
}

}  // namespace kernelpro
