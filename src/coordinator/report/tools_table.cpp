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

ToolRecord& record_of(std::vector<ToolRecord>& records, const std::string& tool, KernelClass kind,
                      const std::string& device) {
  const auto found = std::ranges::find_if(records, [&](const ToolRecord& one) {
    return one.tool == tool && one.kind == kind && one.device == device;
  });
  if (found != records.end()) {
    return *found;
  }
  records.push_back({});
  records.back().tool = tool;
  records.back().kind = kind;
  records.back().device = device;
  return records.back();
}

bool names(const Finding& finding, const std::string& move) {
  return std::find(finding.moves.begin(), finding.moves.end(), move) != finding.moves.end();
}

bool is_gone(const Finding& finding, const Node& child) {
  const std::vector<Finding>& left = child.diagnosis.findings;
  return child.diagnosis.kind != KernelClass::unknown &&
         std::none_of(left.begin(), left.end(),
                      [&finding](const Finding& one) { return one.tool == finding.tool; });
}

// The findings of its parent that name its move. Models name moves of their own: where none is
// named, what they wrote follows the first, which has the largest predicted gain, that is gone.
std::vector<const Finding*> followed(const Node& parent, const Node& child) {
  std::vector<const Finding*> out;
  for (const Finding& finding : parent.diagnosis.findings) {
    if (names(finding, child.move)) {
      out.push_back(&finding);
    }
  }
  for (const Finding& finding : parent.diagnosis.findings) {
    if (out.empty() && child.by_models && is_gone(finding, child)) {
      out.push_back(&finding);
    }
  }
  return out;
}

void follow(const Finding& finding, const Node& parent, const Node& child, ToolRecord& record) {
  ++record.followed;
  if (child.outcome != Outcome::passed || child.speedup <= 0 || parent.speedup <= 0) {
    return;
  }
  const double gain = expected_speedup(child) / expected_speedup(parent);
  ++record.passed;
  record.gained += gain >= clear_gain ? 1 : 0;
  const double predicted = finding.derived_gain > 0 ? finding.derived_gain : finding.predicted_gain;
  record.log_predicted += std::log(std::max(predicted, 1.0));
  record.log_measured += std::log(gain);
}

}  // namespace

void add_to_records(const std::vector<Node>& nodes, const std::string& device,
                    std::vector<ToolRecord>& records) {
  std::map<NodeId, const Node*> by_id;
  for (const Node& node : nodes) {
    by_id[node.id] = &node;
    for (const Finding& finding : node.diagnosis.findings) {
      ++record_of(records, finding.tool, node.diagnosis.kind, device).fired;
    }
  }
  for (const Node& node : nodes) {
    const auto parent = by_id.find(node.parent);
    if (node.state != NodeState::judged || parent == by_id.end()) {
      continue;
    }
    for (const Finding* finding : followed(*parent->second, node)) {
      const KernelClass kind = parent->second->diagnosis.kind;
      follow(*finding, *parent->second, node, record_of(records, finding->tool, kind, device));
    }
  }
}

std::string tools_table(const std::vector<ToolRecord>& all) {
  std::vector<ToolRecord> records;
  for (const ToolRecord& one : all) {
    record_of(records, one.tool, KernelClass::unknown, "").merge(one);
  }
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
    nlohmann::json entry = {{"tool", one.tool},         {"class", name_of(one.kind)},
                            {"device", one.device},     {"fired", one.fired},
                            {"followed", one.followed}, {"passed", one.passed},
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
