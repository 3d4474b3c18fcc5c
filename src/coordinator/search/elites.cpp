#include "coordinator/search/elites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/random.hpp"

namespace kernelpro {

namespace {

// Steps from the root beyond these are one kind.
constexpr std::size_t most_steps = 6;

}  // namespace

std::optional<Choice> Elites::do_ask(std::int64_t /*left*/) {
  if (elites_.empty()) {
    return std::nullopt;
  }
  const std::uint64_t drawn = counter_hash(seed_, tree_.calls()) % elites_.size();
  const auto& [cell, index] = *std::next(elites_.begin(), static_cast<std::ptrdiff_t>(drawn));
  return Choice{.parent = tree_[index].id,
                .reasons = {fmt::format(
                    "node {} ({}), the best of its kind and {} steps from the baseline, was drawn "
                    "from {} such",
                    tree_[index].id, tree_.standing(index), cell.second, elites_.size())}};
}

void Elites::begin(NodeId child, NodeId parent) {
  if (tree_.begin(child, parent)) {
    cells_of_.resize(tree_.size());
  }
}

void Elites::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index || !tree_.expandable(*index)) {
    return;
  }
  const Index above = tree_[*index].parent;
  if (tree_.failed(*index) && above != no_index) {
    tree_.shut(*index, "it failed, and this search expands only what passed, and the root");
    return;
  }
  const std::size_t steps = above == no_index ? 0 : cells_of_[above].second + 1;
  const Cell cell = {result.kind, std::min(steps, most_steps)};
  cells_of_[*index] = cell;
  members_[cell].push_back(*index);
  const auto [elite, is_first] = elites_.try_emplace(cell, *index);
  if (!is_first && slower(elite->second, *index)) {
    elite->second = *index;
  }
}

// Of equals the older.
bool Elites::slower(Index one, Index other) const {
  const double left = tree_[one].eligible ? tree_[one].speedup : 0;
  const double right = tree_[other].eligible ? tree_[other].speedup : 0;
  return left != right ? left < right : one > other;
}

void Elites::elect(const Cell& cell) {
  std::optional<Index> best;
  for (const Index one : members_[cell]) {
    if (tree_.expandable(one) && (!best || slower(*best, one))) {
      best = one;
    }
  }
  if (best) {
    elites_[cell] = *best;
  } else {
    elites_.erase(cell);
  }
}

void Elites::close(NodeId node, const std::string& reason) {
  const std::optional<Index> index = tree_.close(node, reason);
  if (index && *index < cells_of_.size() && tree_[*index].state == TreeNode::State::judged) {
    elect(cells_of_[*index]);
  }
}

std::vector<std::string> Elites::explain(NodeId node) const {
  return tree_.explain(node);
}

}  // namespace kernelpro
