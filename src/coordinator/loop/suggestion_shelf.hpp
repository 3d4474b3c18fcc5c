// Suggestions that are waiting under the nodes being expanded.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/propose/playbook.hpp"

namespace kernelpro {

// Suggestions hold whole sources, so only those of the nodes used last are kept; the playbook makes
// the others again when they are needed.
class SuggestionShelf {
 public:
  explicit SuggestionShelf(std::size_t nodes = 64) : capacity_(nodes) {}

  [[nodiscard]] bool has(NodeId node) const { return shelves_.contains(node); }
  void put(NodeId node, Suggestions suggestions);
  // Takes the most promising suggestion whose candidate is not in `known`; nothing when none is
  // left. `key` is set to its candidate key.
  [[nodiscard]] std::optional<Suggestion> take(NodeId node, const Playbook& playbook,
                                               const MoveRecords& records,
                                               const std::set<std::string>& known,
                                               std::string& key);
  // Why nothing is left under a node, for people.
  [[nodiscard]] std::string exhausted_because(NodeId node) const;

 private:
  struct Waiting {
    Suggestion suggestion;
    std::string key;
  };
  struct Shelf {
    std::vector<Waiting> waiting;
    std::vector<Refusal> refusals;
    std::size_t made = 0;
  };
  void use(NodeId node);

  std::size_t capacity_;
  std::map<NodeId, Shelf> shelves_;
  std::list<NodeId> order_;  // the one used last in front
};

}  // namespace kernelpro
