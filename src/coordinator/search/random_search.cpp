#include "coordinator/search/random_search.hpp"

#include <fmt/format.h>

#include "common/base/random.hpp"

namespace kernelpro {

std::optional<Choice> RandomSearch::do_ask(std::int64_t /*left*/) {
  if (open_.empty()) {
    return std::nullopt;
  }
  const Index index = open_[counter_hash(seed_, tree_.calls()) % open_.size()];
  return Choice{.parent = tree_[index].id,
                .reasons = {fmt::format("node {} ({}) was drawn from {} open {}", tree_[index].id,
                                        tree_.standing(index), open_.size(),
                                        open_.size() == 1 ? "node" : "nodes")}};
}

void RandomSearch::begin(NodeId child, NodeId parent) {
  tree_.begin(child, parent);
}

void RandomSearch::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index || !tree_.expandable(*index)) {
    return;
  }
  if (tree_.failed(*index) && tree_[*index].parent != no_index) {
    tree_.shut(*index, "it failed, and this search expands only what passed, and the root");
    return;
  }
  places_.emplace(*index, open_.size());
  open_.push_back(*index);
}

void RandomSearch::close(NodeId node, const std::string& reason) {
  const std::optional<Index> index = tree_.close(node, reason);
  const auto found = index ? places_.find(*index) : places_.end();
  if (found == places_.end()) {
    return;
  }
  const std::size_t place = found->second;
  places_[open_.back()] = place;
  open_[place] = open_.back();
  open_.pop_back();
  places_.erase(*index);
}

std::vector<std::string> RandomSearch::explain(NodeId node) const {
  return tree_.explain(node);
}

}  // namespace kernelpro
