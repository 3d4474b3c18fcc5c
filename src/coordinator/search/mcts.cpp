#include "coordinator/search/mcts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelpro {
namespace {

// Rewards are logarithms, so that twice as fast counts the same wherever one starts; below a tenth
// of the baseline, how slow exactly says nothing more.
double reward_of_speedup(double speedup) {
  return std::log(std::max(speedup, 0.1));
}

// A gain of less is no news: timings of one program differ by as much.
constexpr double clock_noise = 0.02;

std::string text_of(const Score& score, const char* value_name) {
  return fmt::format("{:.2f} = {} {:.2f} + exploration {:.2f}", score.total(), value_name,
                     score.value, score.exploration);
}

}  // namespace

std::optional<Choice> Mcts::do_ask(std::int64_t left) {
  progress_.left = left == unknown_budget ? 0.5
                                          : static_cast<double>(left) /
                                                std::max(1.0, static_cast<double>(left + results_));
  if (tree_.size() == 0 || !tree_[0].open) {
    return std::nullopt;
  }
  Choice choice;
  Step at{.index = 0, .score = {}};
  for (;;) {
    const Step best = best_child(at.index);
    const Decision decision = decide(at.index, best);
    const std::string score = at.index == 0 ? "" : text_of(at.score, rules_->value_name()) + "; ";
    choice.reasons.push_back(name(at.index) + ": " + score + decision.reason);
    if (decision.widen) {
      choice.parent = tree_[at.index].id;
      return choice;
    }
    at = best;
  }
}

Mcts::Decision Mcts::decide(Index at, const Step& best) const {
  if (!tree_.expandable(at)) {
    return {.widen = false, .reason = "closed, so on to its best branch"};
  }
  if (best.index == no_index) {
    return {.widen = true, .reason = "no child of it can be expanded, so it gets another"};
  }
  const Branch& node = branches_[at];
  const int width = rules_->width(node);
  if (node.children >= width) {
    return {.widen = false,
            .reason = fmt::format("widening gate closed: {} of {} children", node.children, width)};
  }
  const Score next = rules_->next_child(node, progress_);
  const bool wins = next.total() > best.score.total();
  return {.widen = wins,
          .reason = fmt::format(
              "widening gate open: {} < {} children; a new child's {} {} node {}'s {:.2f}",
              node.children, width, text_of(next, rules_->value_name()),
              wins ? "beats" : "does not beat", tree_[best.index].id, best.score.total())};
}

// Of equals the oldest: it was proposed first.
Mcts::Step Mcts::best_child(Index parent) const {
  Step best;
  for (const Index index : tree_[parent].children) {
    if (!tree_[index].open) {
      continue;
    }
    const Score score = rules_->child(branches_[parent], branches_[index], progress_);
    if (best.index == no_index || score.total() > best.score.total()) {
      best = {.index = index, .score = score};
    }
  }
  return best;
}

void Mcts::begin(NodeId child, NodeId parent) {
  const std::optional<Index> index = tree_.begin(child, parent);
  if (!index) {
    return;
  }
  branches_.resize(tree_.size());
  kinds_.resize(tree_.size());
  noise_.resize(tree_.size());
  const Index above = tree_[*index].parent;
  if (above == no_index) {
    branches_[*index].is_root = true;
  } else {
    ++branches_[above].children;
  }
  count_in_flight(*index, 1);
}

void Mcts::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index) {
    return;
  }
  count_in_flight(*index, -1);
  const Index above = tree_[*index].parent;
  if (tree_[*index].state == TreeNode::State::forgotten) {
    --branches_[above].children;
    return;
  }
  Branch& node = branches_[*index];
  node.failed = tree_.failed(*index);
  ++results_;
  take_diagnosis(*index, result);
  if (above != no_index) {
    ++branches_[above].judged_children;
    branches_[above].failed_children += node.failed ? 1 : 0;
  }
  back_up(*index);
}

void Mcts::take_diagnosis(Index index, const SearchResult& result) {
  Branch& node = branches_[index];
  const Index above = tree_[index].parent;
  noise_[index] = result.noise;
  kinds_[index] = result.kind;
  node.other_kind = above != no_index && result.kind != 0 && kinds_[above] != result.kind;
  if (result.outlook > 0) {
    const double said = std::log(result.outlook);
    mean_outlook_ += (said - mean_outlook_) / ++outlooks_;
    node.outlook = said - mean_outlook_;
  }
}

void Mcts::close(NodeId node, const std::string& reason) {
  tree_.close(node, reason);
}

std::optional<double> Mcts::reward_of(Index index) const {
  if (tree_.failed(index)) {
    return rules_->failure_reward(tree_[index].outcome);
  }
  if (!tree_.passed(index)) {
    return std::nullopt;
  }
  const double reward = rules_->net(reward_of_speedup(tree_[index].speedup), noise_[index]);
  const Index above = tree_[index].parent;
  // What may never be the best must not draw the search to it either.
  return tree_[index].eligible || above == no_index ? reward
                                                    : std::min(reward, branches_[above].reward);
}

void Mcts::count_in_flight(Index index, int change) {
  for (Index at = index; at != no_index; at = tree_[at].parent) {
    branches_[at].in_flight += change;
  }
}

void Mcts::back_up(Index index) {
  const Index above = tree_[index].parent;
  const std::optional<double> reward = reward_of(index);
  const bool passed = tree_.passed(index);
  branches_[index].reward = reward.value_or(above == no_index ? 0 : branches_[above].reward);
  learn(passed ? reward : std::nullopt);
  for (Index at = index; at != no_index; at = tree_[at].parent) {
    Branch& branch = branches_[at];
    ++branch.visits;
    branch.passed += passed ? 1 : 0;
    if (reward) {
      branch.best = branch.rewarded == 0 ? *reward : std::max(branch.best, *reward);
      branch.total += *reward;
      ++branch.rewarded;
    }
    if (const bool dead = rules_->dead_end(branch); dead != tree_[at].pruned) {
      tree_.prune(at, dead);
    }
  }
}

void Mcts::learn(std::optional<double> reward) {
  ++progress_.since_best;
  if (!reward) {
    return;
  }
  if (rewards_ == 0 || *reward > best_reward_ + clock_noise) {
    best_reward_ = *reward;
    progress_.since_best = 0;
  }
  ++rewards_;
  const double off = *reward - mean_reward_;
  mean_reward_ += off / rewards_;
  squares_ += off * (*reward - mean_reward_);
  progress_.spread = std::sqrt(squares_ / rewards_);
}

std::string Mcts::name(Index index) const {
  const int visits = branches_[index].visits;
  return fmt::format("node {} ({}, {} {})", tree_[index].id, tree_.standing(index), visits,
                     visits == 1 ? "visit" : "visits");
}

std::vector<std::string> Mcts::explain(NodeId node) const {
  std::vector<std::string> lines = tree_.explain(node);
  const std::optional<Index> index = tree_.find(node);
  if (!index || tree_[*index].state != TreeNode::State::judged) {
    return lines;
  }
  const Branch& branch = branches_[*index];
  lines.push_back(fmt::format("{} visits, {} of them passed; best reward {:.2f}, mean {:.2f}",
                              branch.visits, branch.passed, branch.best,
                              branch.rewarded == 0 ? 0 : branch.total / branch.rewarded));
  if (const Index above = tree_[*index].parent; above != no_index) {
    lines.push_back(
        "seen from its parent: " +
        text_of(rules_->child(branches_[above], branch, progress_), rules_->value_name()));
  }
  return lines;
}

}  // namespace kernelpro
