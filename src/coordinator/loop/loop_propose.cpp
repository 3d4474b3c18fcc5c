// How the loop comes to the next candidates.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/hash.hpp"
#include "coordinator/loop/loop.hpp"
#include "coordinator/loop/repair.hpp"
#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro {

namespace {

// What stands in the place of a move where the user gave the candidate.
constexpr const char* start_move = "start";

// Before what went wrong with models, among the reasons of a node.
const std::string mishap_prefix = "mishap: ";

}  // namespace

Status ClosedLoop::propose_starts(std::vector<NodeId>& batch) {
  for (const Candidate& start : run_.settings.starts) {
    const std::string key = candidate_key(start);
    if (known_keys_.contains(key) || judged_ + std::ssize(batch) >= run_.settings.evaluations) {
      continue;
    }
    Proposal proposal;
    proposal.move = start_move;
    proposal.site = start.name;
    proposal.plan = "given to search from: " + start.name;
    proposal.candidate = start;
    KP_TRY(add_node({root_node, {"given by the user"}}, proposal, key));
    batch.push_back(nodes_.back().id);
  }
  return {};
}

Result<bool> ClosedLoop::propose(std::vector<NodeId>& batch, std::stop_token stop) {
  batch.clear();
  KP_TRY(propose_starts(batch));
  if (!batch.empty()) {
    return true;
  }
  const std::int64_t most =
      std::min<std::int64_t>(run_.settings.in_flight, run_.settings.evaluations - judged_);
  std::int64_t chosen = 0;
  while (std::ssize(batch) + chosen < most && !stop.stop_requested()) {
    const std::optional<Choice> choice = next_choice();
    if (!choice) {
      break;
    }
    const Result<ChildOffer> offer =
        proposer_.offer(choice->parent, {nodes_, records_, known_keys_}, stop);
    if (!offer) {
      return offer.error();
    }
    // What was cut short is no reason to close a branch.
    if (stop.stop_requested()) {
      break;
    }
    if (offer->kind == ChildOffer::Kind::nothing) {
      KP_TRY(close(choice->parent, offer->reason));
    } else if (offer->kind == ChildOffer::Kind::agents) {
      KP_TRY(choose_node(*choice));
      ++chosen;
    } else {
      KP_TRY(add_node(*choice, offer->proposal, offer->key));
      batch.push_back(nodes_.back().id);
    }
  }
  return !batch.empty() || chosen > 0;
}

std::optional<Choice> ClosedLoop::next_choice() {
  std::optional<Choice> repair;
  if (author_ != nullptr) {
    repair = promising_repair(nodes_, node(best_), repairs_allowed(run_.settings));
  }
  return repair ? repair : search_.ask();
}

Status ClosedLoop::write(std::vector<NodeId>& batch, std::stop_token stop) {
  const std::vector<NodeId> chosen = nodes_in(NodeState::proposing);
  if (chosen.empty() || stop.stop_requested()) {
    return {};
  }
  if (author_ == nullptr) {
    return make_error(ErrorKind::bad_input,
                      "models are to write nodes of this run, and it names none: give --llm");
  }
  report(fmt::format("asking models for {} candidate{}", chosen.size(),
                     chosen.size() == 1 ? "" : "s"));
  const Result<std::vector<Result<Proposed>>> written = proposer_.write(chosen, nodes_, stop);
  if (!written) {
    return written.error();
  }
  Status first;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Result<Proposed>& one = (*written)[i];
    // What the others wrote is kept, whatever happened to one.
    if (one) {
      KP_TRY(take_written(node(chosen[i]), *one, batch));
    } else if (first) {
      first = one.error();
    }
  }
  // Whoever wrote them, and whenever: what is judged together is judged in one order.
  std::sort(batch.begin(), batch.end());
  return stop.stop_requested() ? Status() : first;
}

Status ClosedLoop::take_written(Node& one, const Proposed& written, std::vector<NodeId>& batch) {
  one.by_models = true;
  for (const std::string& mishap : written.mishaps) {
    one.reasons.push_back(mishap_prefix + mishap);
  }
  switch (written.kind) {
    case Proposed::Kind::not_yet:
      ++run_.awaited.answers;
      return {};
    case Proposed::Kind::spent:
      models_spent_ = written.reason;
      return {};
    case Proposed::Kind::nothing:
      return end_unwritten(one, written.reason);
    case Proposed::Kind::candidate:
      break;
  }
  const std::string key = candidate_key(written.proposal.candidate);
  const auto same = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&key](const Node& other) { return other.candidate_key == key; });
  const NodeId known = same == nodes_.end() ? no_node : same->id;
  take_proposal(one, written.proposal, key);
  one.state = NodeState::in_flight;
  KP_TRY(journal_.written(one, written.proposal.candidate.source));
  known_keys_.insert(key);
  if (known == no_node) {
    batch.push_back(one.id);
    return {};
  }
  one.state = NodeState::duplicate;
  one.same_as = known;
  one.summary = fmt::format("the same candidate as node {}", known);
  return end_node(one, nullptr);
}

Status ClosedLoop::end_unwritten(Node& one, const std::string& reason) {
  one.state = NodeState::unwritten;
  one.summary = reason;
  KP_TRY(end_node(one, nullptr));
  return close(one.id, "no candidate came of it");
}

void ClosedLoop::take_proposal(Node& one, const Proposal& proposal, const std::string& key) {
  one.move = proposal.move;
  one.site = proposal.site;
  one.plan = proposal.plan;
  one.predicted_gain = proposal.predicted_gain;
  one.source_hash = sha256(proposal.candidate.source);
  one.compiler = proposal.candidate.compiler;
  one.options = proposal.candidate.options;
  one.candidate_key = key;
}

Node ClosedLoop::fresh_node(const Choice& choice) {
  Node fresh;
  fresh.id = std::ssize(nodes_);
  fresh.parent = choice.parent;
  fresh.reasons = choice.reasons;
  fresh.born = ++events_;
  return fresh;
}

void ClosedLoop::begin(Node fresh) {
  search_.begin(fresh.id, fresh.parent);
  nodes_.push_back(std::move(fresh));
}

Status ClosedLoop::choose_node(const Choice& choice) {
  Node fresh = fresh_node(choice);
  fresh.state = NodeState::proposing;
  fresh.by_models = true;
  KP_TRY(journal_.chosen(fresh));
  begin(std::move(fresh));
  return {};
}

Status ClosedLoop::add_node(const Choice& choice, const Proposal& proposal,
                            const std::string& key) {
  Node fresh = fresh_node(choice);
  take_proposal(fresh, proposal, key);
  KP_TRY(journal_.proposed(fresh, proposal.candidate.source));
  known_keys_.insert(key);
  begin(std::move(fresh));
  return {};
}

Status ClosedLoop::close(NodeId id, const std::string& reason) {
  const Closure closure{id, ++events_, reason};
  KP_TRY(journal_.closed(closure));
  search_.close(id, reason);
  return {};
}

}  // namespace kernelpro
