#include "coordinator/loop/prospect_shelf.hpp"

namespace kernelpro {

void ProspectShelf::use(NodeId node) {
  order_.remove(node);
  order_.push_front(node);
  while (order_.size() > capacity_) {
    shelf_.erase(order_.back());
    order_.pop_back();
  }
}

Prospects* ProspectShelf::find(NodeId node) {
  const auto found = shelf_.find(node);
  if (found == shelf_.end()) {
    return nullptr;
  }
  use(node);
  return &found->second;
}

Prospects& ProspectShelf::put(NodeId node, Prospects prospects) {
  use(node);
  return shelf_.insert_or_assign(node, std::move(prospects)).first->second;
}

}  // namespace kernelpro
