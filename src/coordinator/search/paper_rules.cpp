// The constants of KernelPro (arXiv 2606.26453) as its port has them.
#include <algorithm>
#include <cmath>

#include "coordinator/search/mcts_rules.hpp"

namespace kernelpro {
namespace {

constexpr double paper_exploration = 1.414;
constexpr double did_not_build = -3;
constexpr double did_not_pass = -2;
constexpr double root_width = 2;
constexpr double repair_width = 2;    // under a failed node
constexpr double optimize_width = 3;  // under one that passed

double mean(const Branch& branch) {
  return branch.visits == 0 ? 0 : branch.total / branch.visits;
}

double explore(double visits_of_parent, double visits_of_child) {
  if (visits_of_parent < 1) {
    return 0;
  }
  return paper_exploration * std::sqrt(std::log(visits_of_parent) / std::max(1.0, visits_of_child));
}

class PaperRules : public MctsRules {
 public:
  [[nodiscard]] const char* value_name() const override { return "mean"; }

  [[nodiscard]] std::optional<double> failure_reward(Outcome outcome) const override {
    return outcome == Outcome::build_failed ? did_not_build : did_not_pass;
  }

  [[nodiscard]] Score child(const Branch& parent, const Branch& child,
                            const Progress& /*progress*/) const override {
    return {.value = mean(child), .exploration = explore(parent.visits, child.visits)};
  }

  [[nodiscard]] Score next_child(const Branch& node, const Progress& /*progress*/) const override {
    const double visits = node.visits;
    return {.value = mean(node), .exploration = explore(visits, visits / (node.children + 1))};
  }

  [[nodiscard]] int width(const Branch& node) const override {
    const double optimize_or_repair = node.failed ? repair_width : optimize_width;
    const double factor = node.is_root ? root_width : optimize_or_repair;
    return std::max(1, static_cast<int>(factor * std::sqrt(node.visits)));
  }

  [[nodiscard]] bool dead_end(const Branch& node) const override {
    return node.failed && node.judged_children >= 3 && node.failed_children == node.judged_children;
  }
};

}  // namespace

std::unique_ptr<MctsRules> paper_rules() {
  return std::make_unique<PaperRules>();
}

}  // namespace kernelpro
