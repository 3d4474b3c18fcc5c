#include "coordinator/report/node_json.hpp"

#include <nlohmann/json.hpp>

#include "coordinator/report/run_report.hpp"

namespace kernelpro {

namespace {

using nlohmann::json;

// From the baseline to it.
json moves_json(const std::vector<Node>& nodes, NodeId id) {
  json moves = json::array();
  for (const Node* node : lineage_of(nodes, id)) {
    if (node->id != root_node) {
      moves.push_back(node->move);
    }
  }
  return moves;
}

}  // namespace

json node_json(const std::vector<Node>& nodes, NodeId id) {
  const Node* found = find_node(nodes, id);
  const Node node = found == nullptr ? Node() : *found;
  const bool root = node.id == root_node;
  const Interval interval = root ? Interval{1, 1} : node.speedup_interval;
  json out = {{"id", node.id},
              {"parent", node.parent},
              {"move", node.move},
              {"moves", moves_json(nodes, node.id)},
              {"site", node.site},
              {"plan", node.plan},
              {"state", std::string(name_of(node.state))},
              {"same_as", node.same_as},
              {"by_models", node.by_models},
              {"learned_from", learned_from(node.reasons)},
              {"compiler", node.compiler},
              {"options", node.options},
              {"outcome", std::string(name_of(node.outcome))},
              {"summary", node.summary},
              {"suspect", node.suspect},
              {"precision", node.precision},
              {"speedup", root ? 1 : node.speedup},
              {"speedup_interval", {interval.low, interval.high}},
              {"at_least", node.at_least},
              {"confirmed", node.confirmed},
              {"bottleneck", std::string(name_of(node.diagnosis.bottleneck))},
              {"share_of_bound", node.diagnosis.share_of_bound},
              {"diagnosis", node.diagnosis.text}};
  if (!root && node.likely > 0) {
    out["likely"] = node.likely;
  }
  return out;
}

}  // namespace kernelpro
