#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "common/base/printable.hpp"
#include "common/wire/run_json.hpp"
#include "coordinator/report/energy_text.hpp"
#include "coordinator/report/markdown.hpp"
#include "coordinator/report/node_json.hpp"
#include "coordinator/report/run_report.hpp"
#include "coordinator/report/sentences.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t chart_columns = 40;

std::string gain_text(double gain) {
  return gain > 0 ? fmt::format("{:.2f}", gain) : "–";
}

std::string speedup_text(const RunReport& report, NodeId id) {
  const Node* node = find_node(report.nodes, id);
  if (id == root_node || node == nullptr) {
    return "1.00";
  }
  return speedup_words(node->speedup, node->speedup_interval, node->at_least);
}

// "unroll → tile → parallel": the moves from the root down.
std::string moves_text(const RunReport& report, NodeId id) {
  std::string out;
  for (const Node* node : lineage_of(report.nodes, id)) {
    if (node->id != root_node) {
      out += (out.empty() ? "" : " → ") + node->move;
    }
  }
  return out;
}

std::string node_phrase(const RunReport& report, NodeId id) {
  return fmt::format("node {}, speed-up {}: {}", id, speedup_text(report, id),
                     moves_text(report, id));
}

// What models write is no matter of flags; and where nothing is judged, nothing is to be told.
std::string flags_text(const RunReport& report) {
  if (report.run.settings.llm || report.evaluations == 0) {
    return "";
  }
  return report.flags_only_best == root_node ? "nothing faster"
                                             : node_phrase(report, report.flags_only_best);
}

// Without a best that is confirmed nothing is said to have lost against the baseline: what was seen
// follows.
std::string best_text(const RunReport& report) {
  if (report.best == root_node && report.evaluations == 0) {
    return "nothing is judged yet";
  }
  if (report.best == root_node && report.faster.empty()) {
    return report.run.state == RunState::finished ? "none beats the baseline"
                                                  : "none beats the baseline so far";
  }
  if (report.best == root_node) {
    return "none is confirmed";
  }
  const bool open = report.run.state == RunState::finished && !report.confirmed;
  return node_phrase(report, report.best) + (open ? " (not confirmed)" : "");
}

std::string faster_text(const RunReport& report) {
  const std::size_t shown = std::min(report.faster.size(), most_faster_shown);
  std::string nodes;
  for (const FasterNode& one : std::span(report.faster).first(shown)) {
    const Node* node = find_node(report.nodes, one.node);
    nodes += fmt::format("{}node {}, {}: {}", nodes.empty() ? "" : "; ", one.node,
                         speedup_words(node->speedup, node->at_least), printable(one.why));
  }
  return nodes + (report.faster.size() > shown
                      ? fmt::format("; and {} more", report.faster.size() - shown)
                      : "");
}

// What to do where nothing is confirmed; empty where nothing is to be done.
std::string next_text(const RunReport& report) {
  if (report.run.state != RunState::finished || report.confirmed ||
      needs_energy(report.run.settings.objective)) {
    return "";
  }
  const std::string again = fmt::format(
      "`kernelpro confirm {}` measures the finalists again; best while the machine is quiet",
      report.run.id);
  for (const FasterNode& one : report.faster) {
    const Node* node = find_node(report.nodes, one.node);
    if (report.best == root_node && node->suspect) {
      return fmt::format("{}. `kernelpro export {} {} DIR --accept-suspect` takes it as it is",
                         again, report.run.id, one.node);
    }
  }
  return report.best == root_node && report.faster.empty() ? "" : again;
}

std::string remarks_text(const RunReport& report) {
  std::string out;
  for (const std::string& remark : report.remarks) {
    out += (out.empty() ? "" : "; ") + printable(remark);
  }
  return out;
}

std::string state_text(const Run& run) {
  return std::string(name_of(run.state)) +
         (run.ended_because.empty() ? "" : " (" + run.ended_because + ")");
}

std::string search_text(const RunSettings& settings) {
  return settings.search == "mcts"
             ? fmt::format("mcts ({}), seed {}", settings.preset, settings.seed)
             : fmt::format("{}, seed {}", settings.search, settings.seed);
}

std::string objective_text(const Run& run) {
  if (!needs_energy(run.settings.objective)) {
    return "";
  }
  std::string out(name_of(run.settings.objective));
  const bool silent = run.state == RunState::finished && run.ranking.empty();
  return out + (silent ? "; no finalist's energy was measured" : "");
}

std::string verdict_text(const RunReport& report) {
  std::vector<std::pair<std::string, std::int64_t>> counts(report.verdicts.begin(),
                                                           report.verdicts.end());
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string out;
  const auto add = [&out](const std::string& name, std::int64_t count) {
    if (count > 0) {
      out += (out.empty() ? "" : ", ") + fmt::format("{} {}", count, name);
    }
  };
  for (const auto& [name, count] : counts) {
    add(name, count);
  }
  add("duplicates", report.duplicates);
  add("in flight", report.in_flight);
  add("being written", report.proposing);
  add("unwritten", report.unwritten);
  return out.empty() ? "none" : out;
}

std::string found_text(const RunReport& report) {
  return report.found_at == 0
             ? ""
             : fmt::format("{} of {} evaluations", report.found_at, report.evaluations);
}

json faster_json(const RunReport& report) {
  json list = json::array();
  for (const FasterNode& one : report.faster) {
    const Node* node = find_node(report.nodes, one.node);
    list.push_back({{"node", one.node},
                    {"speedup", node->speedup},
                    {"speedup_interval", {node->speedup_interval.low, node->speedup_interval.high}},
                    {"at_least", node->at_least},
                    {"suspect", node->suspect},
                    {"why", one.why}});
  }
  return list;
}

std::string chart_text(const RunReport& report) {
  if (report.progress.empty()) {
    return "";
  }
  return fmt::format("1.00 {} {:.2f}", sparkline(report.progress, chart_columns),
                     report.progress.back());
}

// Work by bundles is not done while a run waits for it: its time is what the verdicts say.
std::string time_text(const RunReport& report) {
  const Run& run = report.run;
  if (run.settings.workers.scheme != WorkerScheme::live) {
    double work = 0;
    for (const Node& node : report.nodes) {
      work += static_cast<double>(node.build_ns + node.judge_ns);
    }
    return fmt::format("{} here, {} building and judging there",
                       duration_text(static_cast<double>(run.wall_ns)), duration_text(work));
  }
  return fmt::format("{}, {} of it building and judging",
                     duration_text(static_cast<double>(run.wall_ns)),
                     duration_text(static_cast<double>(run.work_ns)));
}

json move_json(const MoveStatistics& move) {
  return {{"move", move.move},     {"tier", move.tier},           {"tried", move.tried},
          {"passed", move.passed}, {"mean_gain", move.mean_gain}, {"best_gain", move.best_gain}};
}

}  // namespace

Rows run_facts(const RunReport& report) {
  const Run& run = report.run;
  Rows rows = {{"task", run.task.name + ": " + run.task.summary},
               {"search", search_text(run.settings)},
               {"objective", objective_text(run)},
               {"state", printable(state_text(run))},
               {"time", time_text(report)},
               {"machine", machine_of(report)},
               {"verdicts", verdict_text(report)},
               {"models", report.llm ? llm_text(*report.llm) : ""},
               {"best", best_text(report)},
               {"remark", remarks_text(report)},
               {report.confirmed ? "also seen" : "seen", faster_text(report)},
               {"what to do", next_text(report)},
               {"found after", found_text(report)},
               {"flags only", flags_text(report)},
               {"progress", chart_text(report)}};
  std::erase_if(rows, [](const std::vector<std::string>& row) { return row[1].empty(); });
  return rows;
}

const std::vector<std::string>& move_header() {
  static const std::vector<std::string> header = {"move",   "tier",      "tried",
                                                  "passed", "mean gain", "best gain"};
  return header;
}

Rows move_rows(const RunReport& report) {
  Rows rows;
  for (const MoveStatistics& move : report.moves) {
    rows.push_back({move.move, move.tier, std::to_string(move.tried), std::to_string(move.passed),
                    gain_text(move.mean_gain), gain_text(move.best_gain)});
  }
  return rows;
}

std::string run_report_text(const RunReport& report) {
  std::string out = run_sentence(report) + "\n\n" + report.run.id + "\n";
  for (const std::vector<std::string>& row : run_facts(report)) {
    out += fmt::format("  {:<12} {}\n", row[0], row[1]);
  }
  if (!report.moves.empty()) {
    Table table(move_header());
    for (std::vector<std::string>& row : move_rows(report)) {
      table.add(std::move(row));
    }
    out += "\n" + table.text();
  }
  const std::string ranking = ranking_text(report.run);
  return out + (ranking.empty() ? "" : "\n" + ranking);
}

std::string run_report_markdown(const RunReport& report) {
  std::string out = "# " + report.run.id + "\n\n" + run_sentence(report) + "\n\n" +
                    markdown_table({"", ""}, run_facts(report));
  if (!report.moves.empty()) {
    out += "\n## Moves\n\n" + markdown_table(move_header(), move_rows(report));
  }
  if (const std::string ranking = ranking_text(report.run); !ranking.empty()) {
    out += "\n## Energy\n\n```\n" + ranking + "```\n";
  }
  return out;
}

json run_report_json(const RunReport& report) {
  const Run& run = report.run;
  json moves = json::array();
  for (const MoveStatistics& move : report.moves) {
    moves.push_back(move_json(move));
  }
  return {{"run", run.id},
          {"task", run.task.name},
          {"task_hash", run.task_hash},
          {"created", run.created},
          {"program_version", run.program_version},
          {"machine", run.machine},
          {"search", run.settings.search},
          {"preset", run.settings.preset},
          {"seed", run.settings.seed},
          {"budget", run.settings.evaluations},
          {"state", std::string(name_of(run.state))},
          {"ended_because", run.ended_because},
          {"wall_ns", run.wall_ns},
          {"work_ns", run.work_ns},
          {"evaluations", report.evaluations},
          {"found_at", report.found_at},
          {"duplicates", report.duplicates},
          {"in_flight", report.in_flight},
          {"proposing", report.proposing},
          {"unwritten", report.unwritten},
          {"llm", report.llm ? llm_json(*report.llm) : nlohmann::json()},
          {"verdicts", report.verdicts},
          {"best", node_json(report.nodes, report.best)},
          {"confirmed", report.confirmed},
          {"remarks", report.remarks},
          {"faster", faster_json(report)},
          {"flags_only_best", node_json(report.nodes, report.flags_only_best)},
          {"progress", report.progress},
          {"moves", moves},
          {"objective", std::string(name_of(run.settings.objective))},
          {"ranking", to_json(run.ranking)}};
}

}  // namespace kernelpro
