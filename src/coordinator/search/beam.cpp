#include "coordinator/search/beam.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

namespace {

// Chosen on the tuning splits of bench/search/README.md.
constexpr std::size_t beam_width = 3;
constexpr std::size_t children_each = 6;

}  // namespace

std::optional<Choice> Beam::do_ask(std::int64_t /*left*/) {
  if (const std::optional<Index> next = next_in_beam()) {
    return Choice{.parent = tree_[*next].id,
                  .reasons = {fmt::format(
                      "node {} ({}) is one of {} in the beam at level {}, and gets child {} of {}",
                      tree_[*next].id, tree_.standing(*next), beam_.size(), level_,
                      tree_[*next].children.size() + 1, children_)}};
  }
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (const std::vector<Index> open = best_of(level); !open.empty()) {
      const Index best = open.front();
      return Choice{
          .parent = tree_[best].id,
          .reasons = {fmt::format(
              "node {} ({}) is the best open one at level {}, while the level below is judged",
              tree_[best].id, tree_.standing(best), level)}};
    }
  }
  return std::nullopt;
}

// A level ends when each of the beam has its children and they are judged. Below the last one the
// search begins again at the top, for more children than the last time.
void Beam::advance() {
  while (!next_in_beam() && !waits_below()) {
    if (std::vector<Index> below = best_of(level_ + 1); !below.empty()) {
      ++level_;
      beam_ = std::move(below);
    } else if (!begin_again()) {
      return;
    }
    std::size_t least = tree_[beam_.front()].children.size();
    for (const Index index : beam_) {
      least = std::min(least, tree_[index].children.size());
    }
    children_ = least + children_each;
  }
}

bool Beam::begin_again() {
  for (level_ = 0; level_ < levels_.size(); ++level_) {
    beam_ = best_of(level_);
    if (!beam_.empty()) {
      return true;
    }
  }
  return false;
}

bool Beam::waits_below() const {
  return std::ranges::any_of(beam_, [this](Index index) {
    return std::ranges::any_of(tree_[index].children, [this](Index child) {
      return tree_[child].state == TreeNode::State::in_flight;
    });
  });
}

std::optional<Index> Beam::next_in_beam() const {
  std::optional<Index> next;
  for (const Index index : beam_) {
    const std::size_t has = tree_[index].children.size();
    if (tree_.expandable(index) && has < children_ &&
        (!next || has < tree_[*next].children.size())) {
      next = index;
    }
  }
  return next;
}

std::vector<Index> Beam::best_of(std::size_t level) const {
  std::vector<Index> open;
  if (level >= levels_.size()) {
    return open;
  }
  std::ranges::copy_if(levels_[level], std::back_inserter(open), [this](Index index) {
    return tree_.expandable(index) && (index == 0 || tree_.passed(index));
  });
  const auto before = [this](Index one, Index other) {
    const double left = tree_[one].eligible ? tree_[one].speedup : 0;
    const double right = tree_[other].eligible ? tree_[other].speedup : 0;
    return left != right ? left > right : one < other;
  };
  const auto count = static_cast<std::ptrdiff_t>(std::min(beam_width, open.size()));
  std::partial_sort(open.begin(), open.begin() + count, open.end(), before);
  open.resize(static_cast<std::size_t>(count));
  return open;
}

void Beam::begin(NodeId child, NodeId parent) {
  const std::optional<Index> index = tree_.begin(child, parent);
  if (!index) {
    return;
  }
  if (*index < depths_.size()) {
    return;  // a retry
  }
  const Index above = tree_[*index].parent;
  depths_.push_back(above == no_index ? 0 : depths_[above] + 1);
  levels_.resize(std::max(levels_.size(), depths_.back() + 1));
  levels_[depths_.back()].push_back(*index);
}

void Beam::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index) {
    return;
  }
  if (tree_[*index].parent != no_index && tree_.failed(*index) && tree_.expandable(*index)) {
    tree_.shut(*index, "it failed, and this search expands only what passed, and the root");
  }
  advance();
}

void Beam::close(NodeId node, const std::string& reason) {
  if (tree_.close(node, reason)) {
    advance();
  }
}

std::vector<std::string> Beam::explain(NodeId node) const {
  return tree_.explain(node);
}

}  // namespace kernelpro
