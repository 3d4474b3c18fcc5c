#include "coordinator/search/greedy.hpp"

#include <fmt/format.h>

namespace kernelpro {
namespace {

// A wrong result is nearer to a right one than a program that breaks off, and that nearer than one
// that does not build. What cheated comes last: its speed has nothing honest to start from.
int distance_from_passing(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return 0;
    case Outcome::incorrect:
    case Outcome::unstable:
      return 2;
    case Outcome::launch_failed:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::out_of_memory:
      return 3;
    case Outcome::build_failed:
      return 4;
    case Outcome::cheated:
    case Outcome::not_judged:
      return 5;
  }
  return 5;
}

}  // namespace

std::optional<Choice> Greedy::do_ask(std::int64_t /*left*/) {
  if (open_.empty()) {
    return std::nullopt;
  }
  const Index index = std::get<Index>(*open_.begin());
  std::string reason =
      fmt::format("node {} ({}) is the best of {} open {}", tree_[index].id, tree_.standing(index),
                  open_.size(), open_.size() == 1 ? "node" : "nodes");
  if (const Index best = std::get<Index>(*best_); best != index) {
    reason += fmt::format("; the best of all, node {} ({}), is closed", tree_[best].id,
                          tree_.standing(best));
  }
  return Choice{.parent = tree_[index].id, .reasons = {std::move(reason)}};
}

void Greedy::begin(NodeId child, NodeId parent) {
  tree_.begin(child, parent);
}

void Greedy::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index || tree_[*index].state != TreeNode::State::judged) {
    return;
  }
  const Rank rank = rank_of(*index);
  if (!best_ || rank < *best_) {
    best_ = rank;
  }
  if (tree_.expandable(*index)) {
    open_.insert(rank);
  }
}

void Greedy::close(NodeId node, const std::string& reason) {
  if (const std::optional<Index> index = tree_.close(node, reason)) {
    open_.erase(rank_of(*index));
  }
}

std::vector<std::string> Greedy::explain(NodeId node) const {
  return tree_.explain(node);
}

Greedy::Rank Greedy::rank_of(Index index) const {
  const TreeNode& node = tree_[index];
  const int unsound = node.outcome == Outcome::passed && !node.eligible ? 1 : 0;
  return {distance_from_passing(node.outcome) + unsound, -node.speedup, index};
}

}  // namespace kernelpro
