#include "coordinator/loop/finalists.hpp"

#include <algorithm>

namespace kernelpro {

namespace {

constexpr double near_the_fastest = 0.9;
constexpr std::size_t most_by_time = 3;
constexpr std::size_t most_by_energy = 4;

}  // namespace

std::vector<NodeId> choose_finalists(const std::vector<Node>& nodes, const RunSettings& settings) {
  std::vector<const Node*> eligible;
  double fastest = 1;
  for (const Node& one : nodes) {
    if (one.id != root_node && !one.screened && may_be_best(settings, one)) {
      eligible.push_back(&one);
      fastest = std::max(fastest, one.speedup);
    }
  }
  std::erase_if(eligible,
                [fastest](const Node* one) { return one->speedup < near_the_fastest * fastest; });
  std::sort(eligible.begin(), eligible.end(), [](const Node* a, const Node* b) {
    return a->speedup != b->speedup ? a->speedup > b->speedup : a->id < b->id;
  });
  const std::size_t most =
      settings.objective == Objective::time_then_energy ? most_by_time : most_by_energy;
  eligible.resize(std::min(eligible.size(), most));
  std::vector<NodeId> out;
  out.reserve(eligible.size());
  for (const Node* one : eligible) {
    out.push_back(one->id);
  }
  return out;
}

Finalist finalist_of(NodeId node, const Verdict& verdict) {
  const Energy& energy = *verdict.energy;
  Finalist out;
  out.node = node;
  out.speedup = verdict.timing.speedup;
  out.speedup_interval = verdict.timing.speedup_interval;
  out.faster = verdict.timing.comparison == Comparison::faster;
  out.energy_ratio = energy.ratio;
  out.energy_interval = energy.ratio_interval;
  out.joules = energy.shapes.empty() ? 0 : energy.shapes.front().candidate.joules;
  return out;
}

}  // namespace kernelpro
