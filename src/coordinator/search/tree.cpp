#include "coordinator/search/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

std::optional<Index> Tree::begin(NodeId child, NodeId parent) {
  ++calls_;
  const bool is_root = parent == no_node;
  const std::optional<Index> above = find(parent);
  if (is_root ? !nodes_.empty() : !above || nodes_[*above].state != TreeNode::State::judged) {
    return std::nullopt;
  }
  const auto [place, is_new] = places_.try_emplace(child, nodes_.size());
  const Index index = place->second;
  if (is_new) {
    TreeNode& node = nodes_.emplace_back();
    node.id = child;
    node.parent = above.value_or(no_index);
  } else if (nodes_[index].state != TreeNode::State::forgotten || nodes_[index].parent != *above) {
    return std::nullopt;
  }
  nodes_[index].state = TreeNode::State::in_flight;
  if (!is_root) {
    nodes_[*above].children.push_back(index);
  }
  return index;
}

std::optional<Index> Tree::tell(const SearchResult& result) {
  const std::optional<Index> index = find(result.node);
  if (!index || nodes_[*index].state != TreeNode::State::in_flight) {
    return std::nullopt;
  }
  TreeNode& node = nodes_[*index];
  if (result.outcome == Outcome::not_judged && node.parent != no_index) {
    node.state = TreeNode::State::forgotten;
    std::vector<Index>& siblings = nodes_[node.parent].children;
    // Results come soon after births, so it is looked for from the end.
    const auto found = std::find(siblings.rbegin(), siblings.rend(), *index);
    siblings.erase(std::next(found).base());
    return index;
  }
  node.state = TreeNode::State::judged;
  node.outcome = result.outcome;
  node.speedup = result.outcome == Outcome::passed ? result.speedup : 0;
  node.eligible = result.eligible;
  refresh(*index);
  return index;
}

std::optional<Index> Tree::close(NodeId node, const std::string& reason) {
  ++calls_;
  const std::optional<Index> index = find(node);
  if (!index || nodes_[*index].closed) {
    return std::nullopt;
  }
  shut(*index, reason);
  return index;
}

void Tree::shut(Index index, const std::string& reason) {
  nodes_[index].closed = true;
  reasons_.emplace(index, reason);
  refresh(index);
}

void Tree::prune(Index index, bool pruned) {
  nodes_[index].pruned = pruned;
  refresh(index);
}

// Carries a change of `index` up as far as it changes anything.
void Tree::refresh(Index index) {
  while (index != no_index) {
    TreeNode& node = nodes_[index];
    const bool open = !node.pruned && (expandable(index) || node.open_children > 0);
    if (open == node.open) {
      return;
    }
    node.open = open;
    if (node.parent != no_index) {
      std::size_t& count = nodes_[node.parent].open_children;
      count = open ? count + 1 : count - 1;
    }
    index = node.parent;
  }
}

std::optional<Index> Tree::find(NodeId node) const {
  const auto found = places_.find(node);
  return found == places_.end() ? std::nullopt : std::optional<Index>(found->second);
}

bool Tree::expandable(Index index) const {
  return nodes_[index].state == TreeNode::State::judged && !nodes_[index].closed;
}

bool Tree::passed(Index index) const {
  return nodes_[index].state == TreeNode::State::judged && nodes_[index].outcome == Outcome::passed;
}

bool Tree::failed(Index index) const {
  return nodes_[index].state == TreeNode::State::judged &&
         nodes_[index].outcome != Outcome::passed && nodes_[index].outcome != Outcome::not_judged;
}

std::string Tree::standing(Index index) const {
  if (nodes_[index].state == TreeNode::State::in_flight) {
    return "in flight";
  }
  return passed(index) ? fmt::format("{:.2f}x", nodes_[index].speedup)
                       : std::string(name_of(nodes_[index].outcome));
}

std::size_t Tree::in_flight_below(Index index) const {
  std::size_t count = 0;
  std::vector<Index> waiting = {index};
  while (!waiting.empty()) {
    const TreeNode& node = nodes_[waiting.back()];
    waiting.pop_back();
    count += node.state == TreeNode::State::in_flight ? 1 : 0;
    waiting.insert(waiting.end(), node.children.begin(), node.children.end());
  }
  return count;
}

std::vector<std::string> Tree::openness(Index index) const {
  const TreeNode& node = nodes_[index];
  std::vector<std::string> lines;
  if (node.state == TreeNode::State::forgotten) {
    return {"it was tried and not judged; it is not expanded"};
  }
  if (node.closed) {
    lines.push_back("the node is closed: " + reasons_.at(index));
  } else if (node.state == TreeNode::State::in_flight) {
    lines.emplace_back("the node waits for its result");
  }
  if (node.open) {
    lines.emplace_back("its branch is open");
  } else if (node.pruned) {
    lines.emplace_back("its branch is given up as a dead end");
  } else if (const std::size_t waiting = in_flight_below(index); waiting > 0) {
    lines.push_back(
        fmt::format("its branch can be expanded once a result is told: {} in flight", waiting));
  } else {
    lines.emplace_back("its branch is closed: nothing in it can be expanded");
  }
  return lines;
}

std::vector<std::string> Tree::explain(NodeId id) const {
  const std::optional<Index> index = find(id);
  if (!index) {
    return {fmt::format("node {} was never begun in this search", id)};
  }
  std::vector<std::string> lines = {fmt::format("node {} ({}), {} children", id, standing(*index),
                                                nodes_[*index].children.size())};
  const std::vector<std::string> state = openness(*index);
  lines.insert(lines.end(), state.begin(), state.end());
  return lines;
}

}  // namespace kernelpro
