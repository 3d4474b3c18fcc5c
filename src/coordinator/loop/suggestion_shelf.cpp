#include "coordinator/loop/suggestion_shelf.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro {

void SuggestionShelf::use(NodeId node) {
  order_.remove(node);
  order_.push_front(node);
  while (order_.size() > capacity_) {
    shelves_.erase(order_.back());
    order_.pop_back();
  }
}

void SuggestionShelf::put(NodeId node, Suggestions suggestions) {
  Shelf shelf;
  shelf.made = suggestions.list.size();
  shelf.refusals = std::move(suggestions.refusals);
  for (Suggestion& suggestion : suggestions.list) {
    std::string key = candidate_key(suggestion.proposal.candidate);
    shelf.waiting.push_back({std::move(suggestion), std::move(key)});
  }
  shelves_[node] = std::move(shelf);
  use(node);
}

std::optional<Suggestion> SuggestionShelf::take(NodeId node, const Playbook& playbook,
                                                const MoveRecords& records,
                                                const std::set<std::string>& known,
                                                std::string& key) {
  use(node);
  std::vector<Waiting>& waiting = shelves_[node].waiting;
  std::erase_if(waiting, [&known](const Waiting& one) { return known.contains(one.key); });
  const auto best = std::max_element(waiting.begin(), waiting.end(),
                                     [&](const Waiting& left, const Waiting& right) {
                                       return playbook.promise(left.suggestion, records) <
                                              playbook.promise(right.suggestion, records);
                                     });
  if (best == waiting.end()) {
    return std::nullopt;
  }
  Suggestion suggestion = std::move(best->suggestion);
  key = best->key;
  waiting.erase(best);
  return suggestion;
}

std::string SuggestionShelf::exhausted_because(NodeId node) const {
  const auto shelf = shelves_.find(node);
  if (shelf == shelves_.end()) {
    return "nothing is left to try there";
  }
  std::string text = fmt::format("all {} candidates that the playbook suggests there were tried",
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
