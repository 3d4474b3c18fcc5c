#include "coordinator/report/node_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.hpp"
#include "coordinator/report/run_report.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

std::string known_nodes(const std::vector<Node>& nodes) {
  if (nodes.empty()) {
    return "it has none yet";
  }
  const auto [first, last] = std::minmax_element(
      nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  return fmt::format("its nodes are {} to {}", first->id, last->id);
}

std::string outcome_of(const Node& node) {
  if (node.state == NodeState::in_flight) {
    return "in flight";
  }
  if (node.state == NodeState::proposing) {
    return "being written";
  }
  if (node.state == NodeState::unwritten) {
    return "unwritten";
  }
  if (node.state == NodeState::duplicate) {
    return fmt::format("duplicate of node {}", node.same_as);
  }
  std::string out(name_of(node.outcome));
  out += node.rule.empty() ? "" : ": " + node.rule;
  out += node.suspect ? " (suspect)" : "";
  out += node.precision == "contract" ? "" : " (" + node.precision + ")";
  return out + (node.verified ? "" : " (unverified)");
}

bool is_without_source(const Node& node) {
  return node.state == NodeState::proposing || node.state == NodeState::unwritten;
}

std::string speedup_text(const Node& node) {
  if (node.id == root_node) {
    return "1.00";
  }
  const bool timed = node.state == NodeState::judged && node.outcome == Outcome::passed;
  return timed ? speedup_words(node.speedup, node.at_least) : "–";
}

std::string origin_lines(const Node& node) {
  if (node.id == root_node) {
    return "  the task's baseline\n";
  }
  // Nothing was planned for it, or not yet.
  if (node.move.empty()) {
    return fmt::format("  from       node {}\n", node.parent);
  }
  std::string out = fmt::format("  move       {}{}, from node {}{}\n", printable(node.move),
                                node.site.empty() ? "" : " at " + printable(node.site), node.parent,
                                node.by_models ? ", written by models" : "");
  if (!node.plan.empty()) {
    out += "  plan       " + printable(node.plan) + "\n";
  }
  out += fmt::format("  predicted  {:.2f} times the parent's speed\n", node.predicted_gain);
  return out;
}

std::string build_line(const Node& node) {
  if (is_without_source(node)) {
    return "";
  }
  std::string out = "  build      " + (node.compiler.empty() ? "default compiler" : node.compiler);
  for (const std::string& option : node.options) {
    out += " " + option;
  }
  return printable(out) + "\n";
}

std::string reason_lines(const Node& node) {
  std::string out;
  for (const std::string& reason : node.reasons) {
    if (reason.starts_with(learned_prefix)) {
      continue;
    }
    out += (out.empty() ? "  chosen     " : "             ") + printable(reason) + "\n";
  }
  return out;
}

std::string learned_lines(const Node& node) {
  std::string out;
  for (const std::string& place : learned_from(node.reasons)) {
    out += (out.empty() ? "  learned    from " : "                  ") + printable(place) + "\n";
  }
  return out;
}

std::string finding_lines(const Node& node) {
  std::string out;
  for (const Finding& finding : node.diagnosis.findings) {
    out += (out.empty() ? "  found      " : "             ") +
           fmt::format("{} (predicted {:.2f}): {}\n", finding.tool, finding.predicted_gain,
                       printable(finding.title));
  }
  return out;
}

std::string result_lines(const Node& node, const std::optional<Certificate>& certificate) {
  std::string out;
  if (node.outcome == Outcome::passed && node.state == NodeState::judged && node.id != root_node) {
    out += fmt::format("  speed-up   {} over the baseline{}{}\n",
                       speedup_words(node.speedup, node.speedup_interval, node.at_least),
                       node.screened ? " (screen only)" : "",
                       node.confirmed ? ", confirmed at the end of the run" : "");
  }
  if (!node.diagnosis.text.empty()) {
    out += fmt::format("  diagnosis  {}: {}\n", name_of(node.diagnosis.bottleneck),
                       printable(node.diagnosis.text));
  }
  out += finding_lines(node);
  if (certificate) {
    return out + "\n" + evaluation_text({*certificate, "", {}, {}});
  }
  return out + (node.summary.empty() ? "" : "  " + printable_lines(node.summary) + "\n");
}

std::string lineage_table(const std::vector<Node>& nodes, NodeId id) {
  Table table({"node", "move", "where", "verdict", "speed-up"});
  for (const Node* node : lineage_of(nodes, id)) {
    table.add({std::to_string(node->id), node->id == root_node ? "baseline" : printable(node->move),
               printable(node->site), outcome_of(*node), speedup_text(*node)});
  }
  return table.text();
}

}  // namespace

Result<std::string> node_text(const std::vector<Node>& nodes, NodeId id,
                              const std::optional<Certificate>& certificate) {
  const Node* node = find_node(nodes, id);
  if (node == nullptr) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the run has no node {}; {}", id, known_nodes(nodes)));
  }
  return fmt::format("node {}: {}\n", id, outcome_of(*node)) + origin_lines(*node) +
         build_line(*node) + reason_lines(*node) + learned_lines(*node) +
         result_lines(*node, certificate) + "\n" + lineage_table(nodes, id);
}

}  // namespace kernelpro
