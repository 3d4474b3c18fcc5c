// A run that was recorded, told again.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/model/lesson.hpp"
#include "common/model/run.hpp"
#include "coordinator/search/search.hpp"

namespace kernelpro {

// Nodes are numbered in their order.
[[nodiscard]] inline const Node& node_at(const std::vector<Node>& nodes, NodeId id) {
  return nodes[static_cast<std::size_t>(id)];
}

// What a run that goes on already has.
struct LoopHistory {
  std::vector<Node> nodes;  // by id, without gaps
  std::vector<Closure> closures;
  // What it was told of other runs; none: it did not ask yet.
  std::optional<Recollection> recollection = {};  // NOLINT(readability-redundant-member-init)
};

// What the search is told of an ended node.
[[nodiscard]] SearchResult search_result(const Node& node, const RunSettings& settings);

// Makes all events happen again in their order: births and closures are told to the search; nodes
// go to `born` and `ended`. Returns the number of the last event.
std::int64_t replay(const LoopHistory& history, Search& search,
                    const std::function<void(const Node&)>& ended,
                    const std::function<void(const Node&)>& born = {});

}  // namespace kernelpro
