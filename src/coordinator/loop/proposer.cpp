#include "coordinator/loop/proposer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/loop/candidate_name.hpp"
#include "coordinator/loop/repair.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/memory/situation.hpp"
#include "coordinator/propose/tool_belief.hpp"

namespace kernelpro {

namespace {

// More would be read past.
constexpr std::size_t most_advice = 12;

// Whether `node` had ended when `child` was chosen.
bool known_to(const Node& child, const Node& node) {
  return node.ended > 0 && node.ended < child.born;
}

}  // namespace

Result<ChildOffer> Proposer::offer(NodeId parent, const Standing& standing, std::stop_token stop) {
  const Node& node = node_at(standing.nodes, parent);
  if (node.state == NodeState::unwritten) {
    return ChildOffer{ChildOffer::Kind::nothing, {}, {}, "no candidate came of it"};
  }
  if (author_ == nullptr) {
    return playbook_offer(parent, standing, stop);
  }
  ChildOffer agents;
  agents.kind = ChildOffer::Kind::agents;
  if (has_failed(node)) {
    const int repairs = repairs_allowed(run_.settings);
    if (failures_in_a_row(standing.nodes, parent) > repairs) {
      return ChildOffer{
          ChildOffer::Kind::nothing, {}, {}, fmt::format("{} repairs failed", repairs)};
    }
    return agents;
  }
  const auto children = std::count_if(standing.nodes.begin(), standing.nodes.end(),
                                      [parent](const Node& one) { return one.parent == parent; });
  if (children % 2 != 0) {
    return agents;
  }
  Result<ChildOffer> offer = playbook_offer(parent, standing, stop);
  return offer && offer->kind == ChildOffer::Kind::nothing ? Result<ChildOffer>(agents)
                                                           : std::move(offer);
}

Result<ChildOffer> Proposer::playbook_offer(NodeId parent, const Standing& standing,
                                            std::stop_token stop) {
  KP_LET(Prospects * prospects, prospects_of(parent, standing.nodes));
  ChildOffer offer;
  std::optional<Suggestion> suggestion =
      prospects->take(standing.experience, standing.known_keys, offer.key, std::move(stop));
  if (!suggestion) {
    offer.reason = prospects->exhausted_because();
    return offer;
  }
  offer.kind = suggestion->sweep ? ChildOffer::Kind::sweep : ChildOffer::Kind::candidate;
  offer.proposal = std::move(suggestion->proposal);
  return offer;
}

Result<Prospects*> Proposer::prospects_of(NodeId id, const std::vector<Node>& nodes) {
  if (Prospects* known = cache_.find(id); known != nullptr) {
    return known;
  }
  KP_LET(Parent parent, parent_of(id, nodes));
  return &cache_.put(id, Prospects(playbook_, std::move(parent)));
}

Result<Parent> Proposer::parent_of(NodeId id, const std::vector<Node>& nodes) const {
  const Node& one = node_at(nodes, id);
  KP_LET(Candidate candidate, candidate_of(one));
  Parent parent;
  parent.candidate = std::move(candidate);
  parent.passed = one.outcome == Outcome::passed;
  parent.diagnosis = one.diagnosis;
  for (; id > root_node; id = node_at(nodes, id).parent) {
    parent.moves.insert(node_at(nodes, id).move);
  }
  if (!recollection_.lessons.empty()) {
    parent.priors =
        memory::priors_for(recollection_, memory::situation_of(parent.candidate, parent.diagnosis));
  }
  return parent;
}

Result<const Proposer::Outlook*> Proposer::outlook_of(NodeId id, const std::vector<Node>& nodes) {
  const auto known = outlooks_.find(id);
  if (known != outlooks_.end()) {
    return &known->second;
  }
  KP_LET(Parent parent, parent_of(id, nodes));
  Outlook outlook;
  for (const Move& move : playbook_.known_moves()) {
    outlook.promises[move.id] = Playbook::file_promise(move, parent);
  }
  outlook.priors = std::move(parent.priors);
  return &outlooks_.emplace(id, std::move(outlook)).first->second;
}

void Proposer::correct(Diagnosis& diagnosis, const Certificate& certificate) const {
  correct_predictions(diagnosis.findings, diagnosis.kind,
                      device_of(certificate.machine, run_.settings.judging.backend),
                      recollection_.tools);
}

double Proposer::trust_after(const Node& node, const std::vector<Node>& nodes) {
  const Node& parent = node_at(nodes, node.parent);
  if (recollection_.lessons.empty() || parent.outcome != Outcome::passed || parent.speedup <= 0) {
    return trust_.share();
  }
  // A source that cannot be read ends the run where it is needed.
  const Result<const Outlook*> outlook = outlook_of(parent.id, nodes);
  const double* promise = outlook ? (*outlook)->promise_of(node.move) : nullptr;
  if (promise != nullptr) {
    const bool passed = node.outcome == Outcome::passed && node.speedup > 0;
    const double gain = passed ? std::max(0.0, std::log(node.speedup / parent.speedup)) : 0;
    trust_.measured(gain, find_prior((*outlook)->priors, node.move, node.site), *promise);
  }
  return trust_.share();
}

namespace {

// What somebody sees in a source and changes: without one there is nothing to change.
bool is_about_source(const Move& move) {
  return std::ranges::any_of(move.when, [](const Condition& condition) {
    return condition.wanted && condition.kind == Condition::Kind::source;
  });
}

}  // namespace

Result<AgentOrder> Proposer::order_for(const Node& child, const std::vector<Node>& nodes) {
  AgentOrder order;
  order.node = child.id;
  order.run = &run_;
  KP_LET(std::optional<Certificate> root, journal_.certificate(root_node));
  if (root) {
    order.machine = std::move(root->machine);
    order.ceilings = std::move(root->ceilings);
  }
  KP_LET(Parent parent, parent_of(child.parent, nodes));
  for (const Move& move : playbook_.known_moves()) {
    // Nothing is known yet of the kernel that is to take a module's place: all advice may serve.
    const bool fits = parent.candidate.compiler == torch_compiler
                          ? move.tier == written_tier && !is_about_source(move)
                          : playbook_.obstacle(move, parent).empty();
    if (fits && suits(move, run_.task, run_.settings.judging.backend)) {
      order.moves.push_back(move);
    }
  }
  order.compilers = playbook_.compilers();
  order.lessons = memory::advice_for(
      recollection_, memory::situation_of(parent.candidate, parent.diagnosis), most_advice);
  order.facts = recollection_.facts;
  order.parent = std::move(parent.candidate);
  KP_TRY(add_history(order, child, nodes));
  return order;
}

Status Proposer::add_history(AgentOrder& order, const Node& child, const std::vector<Node>& nodes) {
  order.evaluations_left = run_.settings.evaluations;
  for (const Node& one : nodes) {
    if (!known_to(child, one)) {
      const bool beside = one.parent == child.parent && one.id < child.id;
      order.under_way += beside ? 1 : 0;
      if (beside && !one.by_models) {
        order.planned.push_back(one);
      }
      continue;
    }
    KP_LET(Tried what, tried(one));
    order.all.push_back(what);
    if (one.id == child.parent) {
      order.parent_tried = what;
      order.parent_kernels = builds_[one.id].kernels;
      order.parent_warnings = builds_[one.id].warnings;
    }
    if (one.parent == child.parent && one.id != root_node) {
      order.siblings.push_back(what);
    }
    const bool charged = one.state == NodeState::judged && one.outcome != Outcome::not_judged;
    order.evaluations_left -= charged && one.id != root_node ? 1 : 0;
    if (may_be_best(run_.settings, one)) {
      order.best_speedup = std::max(order.best_speedup, one.speedup);
    }
  }
  for (NodeId id = node_at(nodes, child.parent).parent; id >= root_node;
       id = node_at(nodes, id).parent) {
    KP_LET(Tried what, tried(node_at(nodes, id)));
    order.branch.insert(order.branch.begin(), std::move(what));
  }
  return {};
}

Result<Tried> Proposer::tried(const Node& node) {
  auto known = verdicts_.find(node.id);
  if (known == verdicts_.end()) {
    KP_LET(std::optional<Certificate> certificate, journal_.certificate(node.id));
    std::optional<Verdict> verdict;
    if (certificate) {
      verdict = std::move(certificate->verdict);
      builds_[node.id] = std::move(certificate->build);
    }
    known = verdicts_.emplace(node.id, std::move(verdict)).first;
  }
  return Tried{node, known->second};
}

Result<Candidate> Proposer::candidate_of(const Node& node) const {
  KP_LET(std::string source, journal_.source(node.source_hash));
  Candidate candidate;
  candidate.name = candidate_name(node.id);
  candidate.backend = run_.settings.judging.backend;
  candidate.source = std::move(source);
  candidate.compiler = node.compiler;
  candidate.options = node.options;
  return candidate;
}

}  // namespace kernelpro
