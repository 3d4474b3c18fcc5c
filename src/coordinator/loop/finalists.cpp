#include "coordinator/loop/finalists.hpp"

#include <algorithm>
#include <tuple>

namespace kernelpro {

namespace {

constexpr double near_the_fastest = 0.9;
constexpr std::size_t most_by_speed_first = 3;
constexpr std::size_t most_clean = 4;
constexpr std::size_t most_suspects = 3;

// Whether it passed and reads fast enough to be measured again, in doubt or not.
bool may_be_finalist(const Node& node, const RunSettings& settings) {
  const bool faster = needs_energy(settings.objective) || reads_faster(node);
  return node.id != root_node && node.state == NodeState::judged &&
         node.outcome == Outcome::passed && !node.screened && faster &&
         may_be_best(settings, false, node.precision);
}

// At most so many, the fastest first.
void keep_fastest(std::vector<const Node*>& nodes, std::size_t most) {
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) {
    return std::pair(-expected_speedup(*a), a->id) < std::pair(-expected_speedup(*b), b->id);
  });
  nodes.resize(std::min(nodes.size(), most));
}

}  // namespace

std::vector<NodeId> choose_finalists(const std::vector<Node>& nodes, const RunSettings& settings,
                                     std::int64_t phase) {
  std::vector<const Node*> clean;
  std::vector<const Node*> suspects;
  double fastest = 1;
  bool begun = false;
  for (const Node& one : nodes) {
    begun = begun || one.final_phase == phase;
    if (one.final_phase == phase || !may_be_finalist(one, settings)) {
      continue;
    }
    const bool sound = may_be_best(settings, one);
    (sound ? clean : suspects).push_back(&one);
    fastest = sound ? std::max(fastest, expected_speedup(one)) : fastest;
  }
  const auto too_slow = [fastest](const Node* one) {
    return expected_speedup(*one) < near_the_fastest * fastest;
  };
  std::erase_if(clean, too_slow);
  std::erase_if(suspects, too_slow);
  keep_fastest(
      clean, settings.objective == Objective::time_then_energy ? most_by_speed_first : most_clean);
  keep_fastest(suspects, begun ? 0 : most_suspects);
  clean.insert(clean.end(), suspects.begin(), suspects.end());
  keep_fastest(clean, clean.size());
  std::vector<NodeId> out;
  out.reserve(clean.size());
  for (const Node* one : clean) {
    out.push_back(one->id);
  }
  return out;
}

bool keeps_its_figures(const Node& node, const Verdict& fresh, const RunSettings& settings) {
  const bool doubtful =
      fresh.outcome == Outcome::passed && !may_be_best(settings, fresh.suspect, fresh.precision);
  return fresh.outcome == Outcome::not_judged || (doubtful && may_be_best(settings, node));
}

bool is_better_finalist(const Node& one, const Node& other) {
  const auto order = [](const Node& node) {
    return std::tuple(node.speedup_interval.low, node.speedup, -node.id);
  };
  return order(one) > order(other);
}

Finalist finalist_of(NodeId node, const Verdict& verdict) {
  const Energy& energy = *verdict.energy;
  Finalist out;
  out.node = node;
  out.speedup = verdict.timing.speedup;
  out.speedup_interval = verdict.timing.speedup_interval;
  out.at_least = verdict.timing.at_least;
  out.faster = verdict.timing.comparison == Comparison::faster;
  out.energy_ratio = energy.ratio;
  out.energy_interval = energy.ratio_interval;
  out.joules = energy.shapes.empty() ? 0 : energy.shapes.front().candidate.joules;
  return out;
}

}  // namespace kernelpro
