// How the loop comes to the next candidates.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

// A run that went on without lessons goes on without them.
Status ClosedLoop::recall() {
  LessonSource* const source = std::exchange(lessons_, nullptr);
  if (source == nullptr || nodes_.size() > 1) {
    return {};
  }
  KP_LET(const std::optional<Certificate> baseline, journal_.certificate(root_node));
  if (!baseline) {
    return {};
  }
  Recollection recollection = source->recall(*baseline);
  KP_TRY(journal_.recalled(recollection));
  proposer_.recall(std::move(recollection));
  return correct_root();
}

Status ClosedLoop::correct_root() {
  KP_LET(const std::optional<Certificate> baseline, journal_.certificate(root_node));
  if (baseline && !nodes_.empty()) {
    proposer_.correct(node(root_node).diagnosis, *baseline);
  }
  return {};
}

Result<bool> ClosedLoop::propose(std::stop_token stop) {
  const Pipeline::Turn turn = pipeline_->turn();
  KP_TRY(recall());
  const std::size_t before = nodes_.size();
  KP_TRY(propose_starts());
  while (nodes_.size() == before && !stop.stop_requested()) {
    if (const std::optional<Choice> sweep = sweeps_.next()) {
      KP_TRY(add_swept(*sweep));
      continue;
    }
    const std::optional<Choice> choice = next_choice();
    if (!choice) {
      filling_ = false;
      return false;
    }
    KP_LET(const ChildOffer offer,
           proposer_.offer(choice->parent, {nodes_, experience_, known_keys_}, stop));
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
    case ChildOffer::Kind::sweep:
      return open_sweep(choice.parent, offer.proposal.move);
    default:
      return add_node(choice, offer.proposal, offer.key);
  }
}

std::optional<Choice> ClosedLoop::next_choice() {
  std::optional<Choice> repair;
  if (author_ != nullptr) {
    repair = promising_repair(nodes_, node(best_), repairs_allowed(run_.settings));
  }
  const std::int64_t left = run_.settings.evaluations - judged_ - std::ssize(underway_);
  return repair ? repair : search_.ask(std::max<std::int64_t>(left, 0));
}

Status ClosedLoop::open_sweep(NodeId id, const std::string& move) {
  KP_LET(const Candidate candidate, proposer_.candidate_of(node(id)));
  known_keys_.insert(sweep_key(candidate));
  return sweeps_.open(node(id), candidate, move);
}

Status ClosedLoop::add_swept(const Choice& choice) {
  KP_LET(std::optional<Proposal> proposal, sweeps_.propose(choice.parent, std::ssize(nodes_)));
  if (!proposal) {
    return {};
  }
  return add_node(choice, *proposal, candidate_key(proposal->candidate));
}

Status ClosedLoop::sweep_again(const Node& one) {
  const bool swept =
      run_.settings.sweep && std::ranges::any_of(playbook_.known_moves(), [&one](const Move& move) {
        return move.tune && move.id == one.move;
      });
  if (!swept) {
    return {};
  }
  if (!sweeps_.is_open(one.parent)) {
    KP_TRY(open_sweep(one.parent, one.move));
  }
  KP_LET(const std::string source, journal_.source(one.source_hash));
  return sweeps_.born_again(one, source);
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
  for (const std::string& place : written.learned) {
    one.reasons.push_back(std::string(learned_prefix) + place);
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
