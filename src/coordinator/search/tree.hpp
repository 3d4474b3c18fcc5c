// What every way to search keeps of its tree: who is whose child, what was told, what is still
// open.
//
// Calls that make no sense (an unknown parent, a result told twice) change nothing, so that a
// recorded sequence of calls may overlap with one that was told before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/search/search.hpp"

namespace kernelpro {

using Index = std::size_t;  // place of a node in the tree, in order of birth
inline constexpr Index no_index = static_cast<Index>(-1);

struct TreeNode {
  enum class State {
    in_flight,
    judged,
    forgotten,  // not judged: tried, but neither a child of its parent nor expandable
  };

  NodeId id = root_node;
  Index parent = no_index;
  std::vector<Index> children;  // in flight or judged, in order of birth
  std::size_t open_children = 0;
  double speedup = 0;
  Outcome outcome = Outcome::not_judged;
  State state = State::in_flight;
  bool eligible = true;
  bool closed = false;
  bool pruned = false;  // the whole branch is given up
  bool open = false;    // the branch has a node that can be expanded
};

class Tree {
 public:
  // Each answers the node it changed, or nothing if it changed none. A forgotten child may begin
  // again: that is a retry. The root counts as judged whatever is told of it.
  std::optional<Index> begin(NodeId child, NodeId parent);
  std::optional<Index> tell(const SearchResult& result);
  std::optional<Index> close(NodeId node, const std::string& reason);
  // Closes a node by a rule of the search itself; it counts as no call.
  void shut(Index index, const std::string& reason);
  void prune(Index index, bool pruned);

  [[nodiscard]] const TreeNode& operator[](Index index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::optional<Index> find(NodeId node) const;
  // Judged and not closed.
  [[nodiscard]] bool expandable(Index index) const;
  [[nodiscard]] bool passed(Index index) const;
  [[nodiscard]] bool failed(Index index) const;
  // How often begin and close were called: the key of random draws, because these calls are
  // recorded in a run and asks are not.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // "3.20x" of a passed node, otherwise its outcome or "in flight".
  [[nodiscard]] std::string standing(Index index) const;
  // What is known of a node: its standing, whether its branch is open and why not.
  [[nodiscard]] std::vector<std::string> explain(NodeId id) const;

 private:
  [[nodiscard]] std::vector<std::string> openness(Index index) const;
  void refresh(Index index);
  [[nodiscard]] std::size_t in_flight_below(Index index) const;

  std::vector<TreeNode> nodes_;
  std::unordered_map<NodeId, Index> places_;
  std::unordered_map<Index, std::string> reasons_;  // of closing
  std::uint64_t calls_ = 0;
};

}  // namespace kernelpro
