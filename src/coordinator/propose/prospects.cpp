#include "coordinator/propose/prospects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro {

Prospects::Prospects(const Playbook& playbook, Parent parent)
    : playbook_(&playbook), parent_(std::move(parent)) {
  if (!parent_.passed) {
    refusals_.push_back({"all", "the candidate failed, and no move repairs"});
    return;
  }
  for (const Move& move : playbook.moves()) {
    if (std::string reason = playbook.obstacle(move, parent_); !reason.empty()) {
      refusals_.push_back({move.id, std::move(reason)});
    } else {
      unopened_.push_back(&move);
    }
  }
}

void Prospects::open(const Move& move, std::stop_token stop) {
  Result<std::vector<Suggestion>> made = playbook_->suggest(move, parent_, std::move(stop));
  if (!made) {
    refusals_.push_back({move.id, made.error().text()});
    return;
  }
  made_ += made->size();
  for (Suggestion& suggestion : *made) {
    const Candidate& candidate = suggestion.proposal.candidate;
    std::string key = suggestion.sweep ? sweep_key(candidate) : candidate_key(candidate);
    waiting_.push_back({std::move(suggestion), std::move(key)});
  }
}

std::optional<Suggestion> Prospects::take(const Experience& experience,
                                          const std::set<std::string>& known, std::string& key,
                                          std::stop_token stop) {
  for (;;) {
    std::erase_if(waiting_, [&known](const Waiting& one) { return known.contains(one.key); });
    const auto best = std::max_element(waiting_.begin(), waiting_.end(),
                                       [&](const Waiting& left, const Waiting& right) {
                                         return Playbook::promise(left.suggestion, experience) <
                                                Playbook::promise(right.suggestion, experience);
                                       });
    // A move's first site promises most, so none that is opened later can beat what is here.
    const auto next = std::max_element(unopened_.begin(), unopened_.end(),
                                       [&](const Move* left, const Move* right) {
                                         return Playbook::promise(*left, parent_, experience) <
                                                Playbook::promise(*right, parent_, experience);
                                       });
    if (next != unopened_.end() &&
        (best == waiting_.end() || Playbook::promise(**next, parent_, experience) >=
                                       Playbook::promise(best->suggestion, experience))) {
      const Move& move = **next;
      unopened_.erase(next);
      open(move, stop);
      continue;
    }
    if (best == waiting_.end()) {
      return std::nullopt;
    }
    Suggestion suggestion = std::move(best->suggestion);
    key = best->key;
    waiting_.erase(best);
    return suggestion;
  }
}

std::string Prospects::exhausted_because() const {
  std::string text =
      fmt::format("all {} candidates that the playbook suggests there were tried", made_);
  if (!refusals_.empty()) {
    text += "; moves that do not apply:";
    for (const Refusal& refusal : refusals_) {
      text += fmt::format("\n  {}: {}", refusal.move, refusal.reason);
    }
  }
  return text;
}

}  // namespace kernelpro
