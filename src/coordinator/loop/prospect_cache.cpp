#include "coordinator/loop/prospect_cache.hpp"

namespace kernelpro {

void ProspectCache::use(NodeId node) {
  order_.remove(node);
  order_.push_front(node);
  while (order_.size() > capacity_) {
    cache_.erase(order_.back());
    order_.pop_back();
  }
}

Prospects* ProspectCache::find(NodeId node) {
  const auto found = cache_.find(node);
  if (found == cache_.end()) {
    return nullptr;
  }
  use(node);
  return &found->second;
}

Prospects& ProspectCache::put(NodeId node, Prospects prospects) {
  use(node);
  return cache_.insert_or_assign(node, std::move(prospects)).first->second;
}

}  // namespace kernelpro
