#include "coordinator/report/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelpro {

namespace {

constexpr const char* build_tier = "build";
constexpr const char* parallel_move = "parallel";

// Over the baseline: the root is 1 by definition.
double speedup_of(const Node& node) {
  return node.id == root_node ? 1 : node.speedup;
}

bool counts_as_evaluation(const Node& node) {
  return node.id != root_node && node.state == NodeState::judged &&
         node.outcome != Outcome::not_judged;
}

bool is_flags_only(const RunReport& report, NodeId id,
                   const std::map<std::string, std::string>& tiers) {
  const std::vector<const Node*> lineage = lineage_of(report.nodes, id);
  return !lineage.empty() && lineage.front()->id == root_node &&
         std::all_of(lineage.begin(), lineage.end(), [&tiers](const Node* node) {
           const auto tier = tiers.find(node->move);
           return node->id == root_node || node->move == parallel_move ||
                  (tier != tiers.end() && tier->second == build_tier);
         });
}

void find_best(RunReport& report, const std::map<std::string, std::string>& tiers) {
  double best = 1;
  double flags_only = 1;
  for (const Node* node : evaluations_in_order(report.nodes)) {
    ++report.evaluations;
    const bool eligible = !node->screened && may_be_best(report.run.settings, *node);
    if (eligible && node->speedup > best) {
      best = node->speedup;
      if (report.run.state != RunState::finished) {
        report.best = node->id;
        report.found_at = report.evaluations;
      }
    }
    // A finished run has said itself which one holds against the baseline.
    if (report.run.state == RunState::finished && node->id == report.run.best) {
      report.best = node->id;
      report.found_at = report.evaluations;
    }
    // What models write is no matter of flags, whatever they call the move.
    if (!report.run.settings.llm && eligible && node->speedup > flags_only &&
        is_flags_only(report, node->id, tiers)) {
      flags_only = node->speedup;
      report.flags_only_best = node->id;
    }
    report.progress.push_back(best);
  }
}

std::string why_not_best(const Run& run, const Node& node) {
  if (!may_be_best(run.settings, node)) {
    return node.suspect ? "suspect" : "of lower precision: " + node.precision;
  }
  if (node.final_phase == 0 || node.final_phase != run.final_phases) {
    return "an estimate of the search, not measured at the end";
  }
  if (node.confirmed) {
    return "measured at the end too, and its interval begins lower";
  }
  if (node.likely > node.speedup && node.speedup_interval.low <= clear_of_best) {
    return fmt::format(
        "other programs disturbed its timing; without them it seems {:.2f} times "
        "as fast",
        node.likely);
  }
  return node.speedup_interval.low > clear_of_best ? "not confirmed at the end"
                                                   : "within the noise of the baseline";
}

// Nobody needs to wonder why a list of faster nodes has another best, or none.
void find_faster(RunReport& report) {
  const Node* best = find_node(report.nodes, report.best);
  if (report.run.state != RunState::finished || needs_energy(report.run.settings.objective)) {
    return;
  }
  const double least = best == nullptr ? 1 : expected_speedup(*best);
  std::vector<const Node*> faster;
  for (const Node& node : report.nodes) {
    if (counts_as_evaluation(node) && node.outcome == Outcome::passed && !node.screened &&
        node.id != report.best && expected_speedup(node) > least && reads_faster(node)) {
      faster.push_back(&node);
    }
  }
  std::sort(faster.begin(), faster.end(), [](const Node* a, const Node* b) {
    return std::pair(-expected_speedup(*a), a->id) < std::pair(-expected_speedup(*b), b->id);
  });
  for (const Node* node : faster) {
    report.faster.push_back({node->id, why_not_best(report.run, *node)});
  }
}

void count_states(RunReport& report) {
  for (const Node& node : report.nodes) {
    if (node.state == NodeState::duplicate) {
      ++report.duplicates;
    } else if (node.state == NodeState::in_flight) {
      ++report.in_flight;
    } else if (node.state == NodeState::proposing) {
      ++report.proposing;
    } else if (node.state == NodeState::unwritten) {
      ++report.unwritten;
    } else if (node.id != root_node) {
      ++report.verdicts[std::string(name_of(node.outcome))];
    }
  }
}

std::vector<MoveStatistics> count_moves(const std::vector<Node>& nodes,
                                        const std::map<std::string, std::string>& tiers) {
  std::map<std::string, MoveStatistics> moves;
  std::map<std::string, std::vector<double>> gains;
  for (const Node& node : nodes) {
    if (!counts_as_evaluation(node)) {
      continue;
    }
    MoveStatistics& move = moves[node.move];
    ++move.tried;
    move.passed += node.outcome == Outcome::passed ? 1 : 0;
    const Node* parent = find_node(nodes, node.parent);
    if (node.outcome == Outcome::passed && node.speedup > 0 && parent != nullptr &&
        speedup_of(*parent) > 0) {
      gains[node.move].push_back(expected_speedup(node) / expected_speedup(*parent));
    }
  }
  std::vector<MoveStatistics> out;
  for (auto& [name, move] : moves) {
    move.move = name;
    const auto tier = tiers.find(name);
    move.tier = tier == tiers.end() ? "" : tier->second;
    double logs = 0;
    for (const double gain : gains[name]) {
      logs += std::log(gain);
      move.best_gain = std::max(move.best_gain, gain);
    }
    move.mean_gain =
        gains[name].empty() ? 0 : std::exp(logs / static_cast<double>(gains[name].size()));
    out.push_back(move);
  }
  std::sort(out.begin(), out.end(), [](const MoveStatistics& a, const MoveStatistics& b) {
    return a.tried != b.tried ? a.tried > b.tried : a.move < b.move;
  });
  return out;
}

}  // namespace

const Node* find_node(const std::vector<Node>& nodes, NodeId id) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [id](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

std::vector<const Node*> evaluations_in_order(const std::vector<Node>& nodes) {
  std::vector<const Node*> out;
  for (const Node& node : nodes) {
    if (counts_as_evaluation(node)) {
      out.push_back(&node);
    }
  }
  std::sort(out.begin(), out.end(), [](const Node* a, const Node* b) {
    return std::pair(a->ended, a->id) < std::pair(b->ended, b->id);
  });
  return out;
}

std::vector<const Node*> lineage_of(const std::vector<Node>& nodes, NodeId id) {
  std::vector<const Node*> out;
  // A parent is older than its child; anything else is a damaged record and ends the line.
  for (const Node* node = find_node(nodes, id); node != nullptr;
       node = node->parent < node->id ? find_node(nodes, node->parent) : nullptr) {
    out.push_back(node);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string sparkline(const std::vector<double>& values, std::size_t columns) {
  static constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t top = std::size(heights) - 1;
  if (values.empty()) {
    return "";
  }
  const double largest = std::log(std::max(1.0, *std::max_element(values.begin(), values.end())));
  std::string out;
  const std::size_t width = std::min(columns, values.size());
  for (std::size_t column = 0; column < width; ++column) {
    // The last value of the column's share, so that the last column shows the end.
    const double value = values[(column + 1) * values.size() / width - 1];
    const double height = largest > 0 ? std::log(std::max(1.0, value)) / largest : 0;
    out += heights[static_cast<std::size_t>(std::lround(height * static_cast<double>(top)))];
  }
  return out;
}

RunReport make_run_report(const Run& run, const std::vector<Node>& nodes,
                          const std::map<std::string, std::string>& tiers) {
  RunReport report;
  report.run = run;
  report.nodes = nodes;
  find_best(report, tiers);
  const Node* best = find_node(nodes, report.best);
  report.confirmed = best != nullptr && report.best != root_node && is_confirmed(run, *best);
  find_faster(report);
  count_states(report);
  report.moves = count_moves(nodes, tiers);
  return report;
}

}  // namespace kernelpro
