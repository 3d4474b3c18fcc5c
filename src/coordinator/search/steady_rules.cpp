// Our first rules, which runs before the default ones had: for a playbook that proposes its most
// promising move first, for results that are exact up to noise, and for budgets of 50 to 150
// evaluations. Constants were chosen on synthetic landscapes
// (tests/coordinator/search/landscape.hpp), on other seeds than the tests use.
#include <algorithm>
#include <cmath>

#include "coordinator/search/mcts_rules.hpp"

namespace kernelpro {
namespace {

// A branch is as good as the best program in it, because that is what a run returns and a
// measurement is not luck. The mean has a small say, so that of two branches with equal bests the
// one whose moves keep paying comes first.
constexpr double share_of_best = 0.9;

// Exploration in units of the spread of rewards, so that a task with gains of 5 % and one with
// gains of 50x are searched alike. Half of the usual 1.414: a result stays as it was measured, so a
// second visit is for depth and not for certainty.
constexpr double steady_exploration = 0.7;

// Until rewards differ, moves are taken to be worth 5 %: twice the noise of a good timing.
constexpr double least_spread = 0.05;

// A next child starts from its parent's program but may turn out like the branch: half of each.
// More of its own lets a trap hold the search, less keeps useless moves coming.
constexpr double share_of_own_reward = 0.5;

// Two children at once, then more with the root of visits: a ranked list is worth going down only
// as far as the branch is worth visiting.
constexpr double width_factor = 2;

// A failure can be repaired, but a working program is the better start: half a spread below the
// parent, not the whole depth of a failed build.
constexpr double repair_discount = 0.5;

// While the best keeps rising, going on there is right. After ten results without a gain (most of
// the moves that apply under one node) two turns of three look elsewhere, with six times the
// exploration: that passes over a gap of several spreads, as a first move that pays at once and
// leads nowhere leaves one. The third turn still works on the best.
constexpr int patience = 10;
constexpr double restless_factor = 6;

double scale(const Progress& progress) {
  const bool restless = progress.since_best >= patience && progress.since_best % 3 != 0;
  return std::max(progress.spread, least_spread) * (restless ? restless_factor : 1);
}

// What is in flight counts as visited, so that several at once go to several places.
double busy(const Branch& branch) {
  return branch.visits + branch.in_flight;
}

// Failures have no reward and so say nothing about the branches they lie in; a child no faster than
// its parent leaves the best and lowers the mean.
double value(const Branch& branch, double unit) {
  if (branch.rewarded == 0) {
    return branch.reward - repair_discount * unit;
  }
  return share_of_best * branch.best + (1 - share_of_best) * branch.total / branch.rewarded;
}

class SteadyRules : public MctsRules {
 public:
  [[nodiscard]] const char* value_name() const override { return "value"; }

  [[nodiscard]] std::optional<double> failure_reward(Outcome /*outcome*/) const override {
    return std::nullopt;
  }

  [[nodiscard]] Score child(const Branch& parent, const Branch& child,
                            const Progress& progress) const override {
    const double unit = scale(progress);
    return {.value = value(child, unit),
            .exploration = steady_exploration * unit *
                           std::sqrt(std::log(busy(parent) + 1) / std::max(1.0, busy(child)))};
  }

  // Every child tried, whatever became of it, leaves a less promising next one.
  [[nodiscard]] Score next_child(const Branch& node, const Progress& progress) const override {
    const double unit = scale(progress);
    return {
        .value = share_of_own_reward * node.reward + (1 - share_of_own_reward) * value(node, unit),
        .exploration =
            steady_exploration * unit * std::sqrt(std::log(busy(node) + 1) / (node.children + 1))};
  }

  [[nodiscard]] int width(const Branch& node) const override {
    return std::max(1, static_cast<int>(width_factor * std::sqrt(node.visits)));
  }

  // As the paper's, but a repair further down keeps the branch alive.
  [[nodiscard]] bool dead_end(const Branch& node) const override {
    return node.failed && node.passed == 0 && node.judged_children >= 3 &&
           node.failed_children == node.judged_children;
  }
};

}  // namespace

std::unique_ptr<MctsRules> steady_rules() {
  return std::make_unique<SteadyRules>();
}

}  // namespace kernelpro
