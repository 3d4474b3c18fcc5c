#include "coordinator/report/tools_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr double clear_gain = 1.05;

ToolRecord& record_of(std::vector<ToolRecord>& records, const std::string& tool) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&tool](const ToolRecord& one) { return one.tool == tool; });
  if (found != records.end()) {
    return *found;
  }
  records.push_back({});
  records.back().tool = tool;
  return records.back();
}

bool names(const Finding& finding, const std::string& move) {
  return std::find(finding.moves.begin(), finding.moves.end(), move) != finding.moves.end();
}

void follow(const Finding& finding, const Node& parent, const Node& child, ToolRecord& record) {
  ++record.followed;
  if (child.outcome != Outcome::passed || child.speedup <= 0 || parent.speedup <= 0) {
    return;
  }
  const double gain = child.speedup / parent.speedup;
  ++record.passed;
  record.gained += gain >= clear_gain ? 1 : 0;
  record.log_predicted += std::log(std::max(finding.predicted_gain, 1.0));
  record.log_measured += std::log(gain);
}

}  // namespace

double ToolRecord::predicted() const {
  return passed == 0 ? 1 : std::exp(log_predicted / passed);
}

double ToolRecord::measured() const {
  return passed == 0 ? 1 : std::exp(log_measured / passed);
}

void add_to_records(const std::vector<Node>& nodes, std::vector<ToolRecord>& records) {
  std::multimap<NodeId, const Node*> children;
  for (const Node& node : nodes) {
    if (node.state == NodeState::judged) {
      children.emplace(node.parent, &node);
    }
  }
  for (const Node& node : nodes) {
    for (const Finding& finding : node.diagnosis.findings) {
      ToolRecord& record = record_of(records, finding.tool);
      ++record.fired;
      const auto [first, last] = children.equal_range(node.id);
      for (auto child = first; child != last; ++child) {
        if (names(finding, child->second->move)) {
          follow(finding, node, *child->second, record);
        }
      }
    }
  }
}

std::string tools_table(std::vector<ToolRecord> records) {
  if (records.empty()) {
    return "No tool has found anything yet: `kernelpro optimize TASK --backend cuda` profiles what "
           "passes, and `kernelpro diagnose` looks at one kernel or program.\n";
  }
  std::sort(records.begin(), records.end(), [](const ToolRecord& a, const ToolRecord& b) {
    return std::tie(b.fired, a.tool) < std::tie(a.fired, b.tool);
  });
  Table table({"tool", "fired", "followed", "passed", "gained 5 %", "predicted", "measured"});
  for (const ToolRecord& one : records) {
    const bool known = one.passed > 0;
    table.add({one.tool, std::to_string(one.fired), std::to_string(one.followed),
               std::to_string(one.passed), std::to_string(one.gained),
               known ? fmt::format("{:.2f}", one.predicted()) : "–",
               known ? fmt::format("{:.2f}", one.measured()) : "–"});
  }
  return table.text();
}

nlohmann::json tools_json(const std::vector<ToolRecord>& records) {
  nlohmann::json out = nlohmann::json::array();
  for (const ToolRecord& one : records) {
    nlohmann::json entry = {{"tool", one.tool},
                            {"fired", one.fired},
                            {"followed", one.followed},
                            {"passed", one.passed},
                            {"gained", one.gained}};
    if (one.passed > 0) {
      entry["predicted"] = one.predicted();
      entry["measured"] = one.measured();
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace kernelpro
