// Our own rules: wide while much of the budget is left, deep when little is. A branch is worth its
// best program, what its diagnosis foresees, and more where something else holds it up than before.
#include <algorithm>
#include <cmath>

#include "coordinator/search/mcts_rules.hpp"

namespace kernelpro {
namespace {

// Until rewards differ, moves are taken to be worth 5 %: twice the noise of a good timing.
constexpr double least_unit = 0.05;

// What is in flight counts as visited, so that several at once go to several places.
double occupied(const Branch& branch) {
  return branch.visits + branch.in_flight;
}

class DefaultRules : public MctsRules {
 public:
  explicit DefaultRules(const DefaultSettings& settings) : settings_(settings) {}
  [[nodiscard]] const char* value_name() const override { return "value"; }

  [[nodiscard]] std::optional<double> failure_reward(Outcome /*outcome*/) const override {
    return std::nullopt;
  }

  [[nodiscard]] Score child(const Branch& parent, const Branch& child,
                            const Progress& progress) const override {
    return {.value = value(child, progress) + bonus(child, progress),
            .exploration = exploration(progress) * std::sqrt(std::log(occupied(parent) + 1) /
                                                             std::max(1.0, occupied(child)))};
  }

  [[nodiscard]] Score next_child(const Branch& node, const Progress& progress) const override {
    return {.value = settings_.own * node.reward + (1 - settings_.own) * value(node, progress) +
                     bonus(node, progress),
            .exploration = exploration(progress) *
                           std::sqrt(std::log(occupied(node) + 1) / (node.children + 1))};
  }

  [[nodiscard]] int width(const Branch& node) const override {
    return std::max(1, static_cast<int>(settings_.width * std::sqrt(node.visits)));
  }

  // Who was measured badly must not look better for it.
  [[nodiscard]] double net(double reward, double noise) const override { return reward - noise; }

  // A repair further down keeps the branch alive.
  [[nodiscard]] bool dead_end(const Branch& node) const override {
    return node.failed && node.passed == 0 && node.judged_children >= 3 &&
           node.failed_children == node.judged_children;
  }

 private:
  [[nodiscard]] static double unit(const Progress& progress) {
    return std::max(progress.spread, least_unit);
  }
  [[nodiscard]] double exploration(const Progress& progress) const {
    const bool restless = progress.since_best >= settings_.patience && progress.since_best % 3 != 0;
    return unit(progress) * (settings_.late + (settings_.early - settings_.late) * progress.left) *
           (restless ? settings_.restless : 1);
  }
  [[nodiscard]] double value(const Branch& branch, const Progress& progress) const {
    if (branch.rewarded == 0) {
      return branch.reward - settings_.repair * unit(progress);
    }
    return settings_.share_of_best * branch.best +
           (1 - settings_.share_of_best) * branch.total / branch.rewarded;
  }
  // What a diagnosis says counts less the more is known.
  [[nodiscard]] double bonus(const Branch& branch, const Progress& progress) const {
    const double said =
        settings_.outlook * branch.outlook + (branch.other_kind ? settings_.kind : 0);
    return said * unit(progress) / std::sqrt(1 + branch.children);
  }

  DefaultSettings settings_;
};

}  // namespace

std::unique_ptr<MctsRules> default_rules(const DefaultSettings& settings) {
  return std::make_unique<DefaultRules>(settings);
}

}  // namespace kernelpro
