#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/statistics.hpp"
#include "coordinator/report/kernelbench_table.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {
namespace {

std::string group_name(const SuiteGroup& group) {
  return group.level ? fmt::format("level {}", *group.level) : "over all";
}

std::string ratio_text(double value) {
  return value > 0 ? fmt::format("{:.2f}", value) : no_value;
}

std::string percent_text(double share, std::size_t of) {
  return of > 0 ? fmt::format("{:.0f} %", 100 * share) : no_value;
}

// 0: not known.
std::string share_text(double share) {
  return percent_text(share, share > 0 ? 1 : 0);
}

std::string columns_text(const SuiteGroup& group) {
  using Cell = std::function<std::string(const SuiteColumn&)>;
  const auto share = [](double SuiteColumn::* member) {
    return [member](const SuiteColumn& c) { return percent_text(c.*member, c.problems); };
  };
  const std::pair<const char*, Cell> rows[] = {
      {"problems", [](const SuiteColumn& c) { return std::to_string(c.problems); }},
      {"correct", [](const SuiteColumn& c) { return std::to_string(c.correct); }},
      {"fast_0", share(&SuiteColumn::fast_0)},
      {"fast_1", share(&SuiteColumn::fast_1)},
      {"fast_1.5", share(&SuiteColumn::fast_1_5)},
      {"fast_2", share(&SuiteColumn::fast_2)},
      {"geomean of correct", [](const SuiteColumn& c) { return ratio_text(c.mean_of_correct); }},
      {"geomean of all", [](const SuiteColumn& c) { return ratio_text(c.mean_of_all); }},
      {"of the speed of light", [](const SuiteColumn& c) { return share_text(c.share_of_bound); }},
  };
  std::vector<std::string> header = {group_name(group)};
  for (const SuiteColumn& column : group.columns) {
    header.push_back(column.title);
  }
  Table table(std::move(header));
  for (const auto& [name, cell] : rows) {
    std::vector<std::string> row = {name};
    for (const SuiteColumn& column : group.columns) {
      row.push_back(cell(column));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string baselines_text(const std::vector<SuiteGroup>& groups) {
  Table table({"PyTorch", "problems", "measured", "degenerate", "refused", "no answer", "TF32 gain",
               "compiled", "compile gain"});
  for (const SuiteGroup& group : groups) {
    const SuiteBaselines& b = group.baselines;
    table.add({group_name(group), std::to_string(b.problems), std::to_string(b.measured),
               std::to_string(b.degenerate), std::to_string(b.refused), std::to_string(b.failed),
               ratio_text(b.tf32_gain), std::to_string(b.compiled), ratio_text(b.compile_gain)});
  }
  return table.text();
}

std::string mode_text(const SuiteRecord& record, const char* mode) {
  const auto found = record.times.find(mode);
  return found == record.times.end() || found->second.empty()
             ? no_value
             : duration_text(median(found->second));
}

std::string state_text(const SuiteRecord& record) {
  if (!record.failed.empty()) {
    return "no answer";
  }
  if (!record.refused.empty()) {
    return "refused";
  }
  return record.degenerate.empty() ? "" : "degenerate";
}

std::string verdict_cell(const SuiteRecord& record) {
  if (!record.candidate) {
    return no_value;
  }
  std::string out(name_of(record.candidate->outcome));
  if (record.candidate->precision != "contract") {
    out += " (" + record.candidate->precision + ")";
  }
  return out + (record.candidate->suspect ? " (suspect)" : "");
}

std::vector<std::string> candidate_cells(const SuiteRecord& record) {
  if (!record.candidate || !(record.candidate->time_ns > 0)) {
    return {verdict_cell(record), no_value, no_value, no_value};
  }
  const SuiteCandidate& candidate = *record.candidate;
  return {verdict_cell(record), duration_text(candidate.time_ns), ratio_text(candidate.speedup),
          share_text(candidate.share_of_bound)};
}

nlohmann::json column_json(const SuiteColumn& column) {
  return {{"column", column.key},
          {"problems", column.problems},
          {"correct", column.correct},
          {"fast_0", column.fast_0},
          {"fast_1", column.fast_1},
          {"fast_1.5", column.fast_1_5},
          {"fast_2", column.fast_2},
          {"mean_of_correct", column.mean_of_correct},
          {"mean_of_all", column.mean_of_all},
          {"share_of_bound", column.share_of_bound}};
}

nlohmann::json baselines_json(const SuiteBaselines& baselines) {
  return {{"problems", baselines.problems},     {"measured", baselines.measured},
          {"degenerate", baselines.degenerate}, {"refused", baselines.refused},
          {"failed", baselines.failed},         {"tf32_gain", baselines.tf32_gain},
          {"compiled", baselines.compiled},     {"compile_gain", baselines.compile_gain}};
}

}  // namespace

std::string suite_text(const SuiteSummary& summary) {
  std::string out;
  if (summary.with_candidates) {
    for (const SuiteGroup& group : summary.groups) {
      out += columns_text(group) + "\n";
    }
  } else {
    out += baselines_text(summary.groups) + "\n";
  }
  for (const SuiteRemark& remark : summary.remarks) {
    out += fmt::format("{} {}: {}{}\n", remark.problems.size(), remark.what,
                       fmt::join(remark.problems, ", "),
                       remark.reason.empty() ? "" : " (" + remark.reason + ")");
  }
  return out;
}

std::string suite_listing(const std::vector<SuiteRecord>& records) {
  const bool with_candidates = std::ranges::any_of(
      records, [](const SuiteRecord& record) { return record.candidate.has_value(); });
  std::vector<std::string> header = {"level", "problem", "eager", "fp32",
                                     "tf32",  "compile", "state"};
  if (with_candidates) {
    header.insert(header.end(), {"candidate", "time", "speed-up", "of bound"});
  }
  Table table(std::move(header));
  for (const SuiteRecord& record : records) {
    std::vector<std::string> row = {std::to_string(record.problem.level),
                                    record.name,
                                    mode_text(record, eager_mode),
                                    mode_text(record, fp32_mode),
                                    mode_text(record, tf32_mode),
                                    mode_text(record, compile_mode),
                                    state_text(record)};
    if (with_candidates) {
      const std::vector<std::string> more = candidate_cells(record);
      row.insert(row.end(), more.begin(), more.end());
    }
    table.add(std::move(row));
  }
  return table.text();
}

nlohmann::json suite_json(const SuiteSummary& summary) {
  nlohmann::json groups = nlohmann::json::array();
  for (const SuiteGroup& group : summary.groups) {
    nlohmann::json columns = nlohmann::json::array();
    for (const SuiteColumn& column : group.columns) {
      columns.push_back(column_json(column));
    }
    groups.push_back({{"level", group.level ? nlohmann::json(*group.level) : nlohmann::json()},
                      {"columns", std::move(columns)},
                      {"baselines", baselines_json(group.baselines)}});
  }
  nlohmann::json remarks = nlohmann::json::array();
  for (const SuiteRemark& remark : summary.remarks) {
    remarks.push_back(
        {{"what", remark.what}, {"reason", remark.reason}, {"problems", remark.problems}});
  }
  return {{"with_candidates", summary.with_candidates},
          {"groups", std::move(groups)},
          {"remarks", std::move(remarks)}};
}

}  // namespace kernelpro
