#include "coordinator/loop/offer_shelf.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro {

void OfferShelf::use(NodeId node) {
  order_.remove(node);
  order_.push_front(node);
  while (order_.size() > capacity_) {
    shelves_.erase(order_.back());
    order_.pop_back();
  }
}

void OfferShelf::put(NodeId node, Offers offers) {
  Shelf shelf;
  shelf.made = offers.list.size();
  shelf.refusals = std::move(offers.refusals);
  for (Offer& offer : offers.list) {
    std::string key = candidate_key(offer.proposal.candidate);
    shelf.waiting.push_back({std::move(offer), std::move(key)});
  }
  shelves_[node] = std::move(shelf);
  use(node);
}

std::optional<Offer> OfferShelf::take(NodeId node, const Playbook& playbook,
                                      const MoveRecords& records,
                                      const std::set<std::string>& known, std::string& key) {
  use(node);
  std::vector<Waiting>& waiting = shelves_[node].waiting;
  std::erase_if(waiting, [&known](const Waiting& one) { return known.contains(one.key); });
  const auto best = std::max_element(
      waiting.begin(), waiting.end(), [&](const Waiting& left, const Waiting& right) {
        return playbook.promise(left.offer, records) < playbook.promise(right.offer, records);
      });
  if (best == waiting.end()) {
    return std::nullopt;
  }
  Offer offer = std::move(best->offer);
  key = best->key;
  waiting.erase(best);
  return offer;
}

std::string OfferShelf::exhausted_because(NodeId node) const {
  const auto shelf = shelves_.find(node);
  if (shelf == shelves_.end()) {
    return "nothing is left to try there";
  }
  std::string text = fmt::format("all {} candidates that the playbook offers there were tried",
                                 shelf->second.made);
  if (!shelf->second.refusals.empty()) {
    text += "; moves that do not apply:";
    for (const Refusal& refusal : shelf->second.refusals) {
      text += fmt::format("\n  {}: {}", refusal.move, refusal.reason);
    }
  }
  return text;
}

}  // namespace kernelpro
