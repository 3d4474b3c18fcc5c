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

Status ClosedLoop::propose_starts() {
  for (const Candidate& start : run_.settings.starts) {
    const std::string key = candidate_key(start);
    if (known_keys_.contains(key) || judged_ + std::ssize(underway_) >= run_.settings.evaluations) {
      continue;
    }
    Proposal proposal;
    proposal.move = start_move;
    proposal.site = start.name;
    proposal.plan = "given to search from: " + start.name;
    proposal.candidate = start;
    KP_TRY(add_node({root_node, {"given by the user"}}, proposal, key));
  }
  return {};
}

Result<bool> ClosedLoop::propose(std::stop_token stop) {
  const Pipeline::Turn turn = pipeline_->turn();
  const std::size_t before = nodes_.size();
  KP_TRY(propose_starts());
  while (nodes_.size() == before && !stop.stop_requested()) {
    const std::optional<Choice> choice = next_choice();
    if (!choice) {
      filling_ = false;
      return false;
    }
    KP_LET(const ChildOffer offer,
           proposer_.offer(choice->parent, {nodes_, records_, known_keys_}, stop));
    // What was cut short is no reason to close a branch.
    if (stop.stop_requested()) {
      break;
    }
    KP_TRY(take_offer(*choice, offer));
  }
  for (std::size_t id = before; id < nodes_.size(); ++id) {
    KP_TRY(start(static_cast<NodeId>(id)));
  }
  return true;
}

Status ClosedLoop::take_offer(const Choice& choice, const ChildOffer& offer) {
  switch (offer.kind) {
    case ChildOffer::Kind::nothing:
      return close(choice.parent, offer.reason);
    case ChildOffer::Kind::agents:
      return choose_node(choice);
    default:
      return add_node(choice, offer.proposal, offer.key);
  }
}

std::optional<Choice> ClosedLoop::next_choice() {
  std::optional<Choice> repair;
  if (author_ != nullptr) {
    repair = promising_repair(nodes_, node(best_), repairs_allowed(run_.settings));
  }
  return repair ? repair : search_.ask();
}

Status ClosedLoop::take_written(Node& one, const Proposed& written) {
  Underway& under_way = underway_.at(one.id);
  one.by_models = true;
  for (const std::string& mishap : written.mishaps) {
    one.reasons.push_back(mishap_prefix + mishap);
  }
  switch (written.kind) {
    case Proposed::Kind::not_yet:
      under_way.stage = Underway::Stage::waiting;
      ++run_.awaited.answers;
      return {};
    case Proposed::Kind::spent:
      // It is written when there is more to spend; nobody waits for it until then.
      models_spent_ = written.reason;
      underway_.erase(one.id);
      return {};
    case Proposed::Kind::nothing:
      under_way.stage = Underway::Stage::done;
      under_way.unwritten = written.reason;
      return {};
    case Proposed::Kind::candidate:
      break;
  }
  take_proposal(one, written.proposal, candidate_key(written.proposal.candidate));
  one.state = NodeState::in_flight;
  KP_TRY(journal_.written(one, written.proposal.candidate.source));
  Node looked_at = one;
  if (is_duplicate(looked_at)) {
    under_way.stage = Underway::Stage::done;
    return {};
  }
  return start(one.id);
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
  underway_[fresh.id].incumbent = best_;
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
