// Prospects of the nodes being expanded.
#pragma once

#include <cstddef>
#include <list>
#include <map>

#include "common/model/node.hpp"
#include "coordinator/propose/prospects.hpp"

namespace kernelpro {

// Prospects hold whole sources, so only those of the nodes used last are kept; the others are made
// again when they are needed.
class ProspectCache {
 public:
  explicit ProspectCache(std::size_t nodes = 64) : capacity_(nodes) {}

  // Those of a node, which thereby is the one used last; nullptr when they are not here.
  [[nodiscard]] Prospects* find(NodeId node);
  Prospects& put(NodeId node, Prospects prospects);

 private:
  void use(NodeId node);

  std::size_t capacity_;
  std::map<NodeId, Prospects> cache_;
  std::list<NodeId> order_;  // the one used last in front
};

}  // namespace kernelpro
