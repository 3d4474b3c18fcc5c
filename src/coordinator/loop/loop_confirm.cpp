// How the loop makes sure of its best before it ends.
#include <fmt/format.h>

#include <algorithm>

#include "coordinator/loop/finalists.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

Status ClosedLoop::confirm(std::stop_token stop) {
  while (best_ != root_node && !halted(stop) && !stop.stop_requested()) {
    Node& one = node(best_);
    report(fmt::format("confirming node {} against the baseline", one.id));
    const Result<std::optional<Evaluated>> evaluated = evaluate(one, root_node, true, stop);
    if (stop.stop_requested()) {
      return {};
    }
    if (!evaluated) {
      return evaluated.error();
    }
    if (!*evaluated) {
      ++run_.awaited.results;
      return {};
    }
    const Certificate& certificate = (*evaluated)->certificate;
    const Verdict& verdict = certificate.verdict;
    if (verdict.outcome != Outcome::not_judged) {
      take_verdict(one, certificate, 1);
      KP_TRY(journal_.ended(one, &certificate));
    }
    if (may_be_best(run_.settings, one) && verdict.timing.comparison == Comparison::faster) {
      return {};
    }
    best_ = fastest_but(one.id);
  }
  return {};
}

// All are asked for before any is taken: what a laboratory answers later must not change who the
// finalists are.
Status ClosedLoop::confirm_by_energy(std::stop_token stop) {
  if (halted(stop)) {
    return {};
  }
  std::vector<std::pair<NodeId, Certificate>> measured;
  for (const NodeId id : choose_finalists(nodes_, run_.settings)) {
    if (stop.stop_requested()) {
      return {};
    }
    report(fmt::format("measuring the energy of node {} against the baseline", id));
    Result<std::optional<Evaluated>> evaluated = evaluate(node(id), root_node, true, stop);
    if (!evaluated) {
      return stop.stop_requested() ? Status() : Status(evaluated.error());
    }
    if (*evaluated) {
      measured.emplace_back(id, std::move((*evaluated)->certificate));
    } else {
      ++run_.awaited.results;
    }
  }
  return run_.awaited.results > 0 || stop.stop_requested() ? Status() : take_ranking(measured);
}

Status ClosedLoop::take_ranking(const std::vector<std::pair<NodeId, Certificate>>& measured) {
  std::vector<Finalist> finalists;
  for (const auto& [id, certificate] : measured) {
    Node& one = node(id);
    if (certificate.verdict.outcome != Outcome::not_judged) {
      take_verdict(one, certificate, 1);
      KP_TRY(journal_.ended(one, &certificate));
    }
    if (certificate.verdict.energy && may_be_best(run_.settings, one)) {
      finalists.push_back(finalist_of(id, certificate.verdict));
    }
  }
  run_.ranking = rank_finalists(std::move(finalists), run_.settings.objective);
  const auto winner = std::find_if(run_.ranking.begin(), run_.ranking.end(),
                                   [](const Finalist& one) { return one.holds; });
  best_ = winner == run_.ranking.end() ? root_node : winner->node;
  return {};
}

// The fastest eligible node but that one, whose result did not hold.
NodeId ClosedLoop::fastest_but(NodeId failed) const {
  NodeId found = root_node;
  for (const Node& one : nodes_) {
    if (one.id != failed && may_be_best(run_.settings, one) && !one.screened &&
        one.speedup > node(found).speedup) {
      found = one.id;
    }
  }
  return found;
}

}  // namespace kernelpro
