// Offers that are waiting under the nodes being expanded.
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

// Offers hold whole sources, so only those of the nodes used last are kept; the playbook makes the
// others again when they are needed.
class OfferShelf {
 public:
  explicit OfferShelf(std::size_t nodes = 64) : capacity_(nodes) {}

  [[nodiscard]] bool has(NodeId node) const { return shelves_.contains(node); }
  void put(NodeId node, Offers offers);
  // Takes the most promising offer whose candidate is not in `known`; nothing when none is left.
  // `key` is set to its candidate key.
  [[nodiscard]] std::optional<Offer> take(NodeId node, const Playbook& playbook,
                                          const MoveRecords& records,
                                          const std::set<std::string>& known, std::string& key);
  // Why nothing is left under a node, for people.
  [[nodiscard]] std::string exhausted_because(NodeId node) const;

 private:
  struct Waiting {
    Offer offer;
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
