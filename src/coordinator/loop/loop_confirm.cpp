// How a run ends: its finalists are measured once more, side by side, and the best of that is its
// best.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/clock.hpp"
#include "coordinator/loop/finalists.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

Status ClosedLoop::measure_finalists(std::stop_token stop) {
  const std::int64_t phase = run_.final_phases + 1;
  const bool by_energy = needs_energy(run_.settings.objective);
  // Where none of the fastest holds, the next fastest have their turn.
  for (bool more = true; more && !halted(stop);) {
    const std::vector<NodeId> finalists = choose_finalists(nodes_, run_.settings, phase);
    KP_LET(const std::vector<Certificate> measured, measure(finalists, phase, stop));
    if (halted(stop)) {
      return {};
    }
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      KP_TRY(take_final(node(finalists[i]), measured[i], phase));
    }
    KP_TRY(by_energy ? choose_by_energy(phase) : choose_by_time(phase));
    more = !finalists.empty() && best_ == root_node && !by_energy;
  }
  run_.final_phases = halted(stop) ? run_.final_phases : phase;
  return {};
}

// All are asked for before any is taken: what a laboratory answers later must not change who the
// finalists are.
Result<std::vector<Certificate>> ClosedLoop::measure(const std::vector<NodeId>& finalists,
                                                     std::int64_t phase, std::stop_token stop) {
  Pipeline pipeline(laboratory_, author_, playbook_, stop);
  for (const NodeId id : finalists) {
    KP_LET(Job job, job_for(node(id), root_node, phase));
    pipeline.judge(std::move(job));
  }
  std::map<NodeId, Certificate> measured;
  const std::int64_t start = now_ns();
  for (std::size_t answers = 0; answers < finalists.size(); ++answers) {
    report(fmt::format("measuring {} finalists against the baseline: {} done", finalists.size(),
                       answers));
    std::optional<Step> step = pipeline.next();
    if (!step || stop.stop_requested()) {
      break;
    }
    if (const auto* const error = std::get_if<Error>(&step->what)) {
      return *error;
    }
    auto& evaluated = std::get<std::optional<Evaluated>>(step->what);
    if (evaluated) {
      measured[step->node] = std::move(evaluated->certificate);
    } else {
      ++run_.awaited.results;
    }
  }
  run_.work_ns += now_ns() - start;
  std::vector<Certificate> in_order;
  for (const NodeId id : finalists) {
    if (const auto one = measured.find(id); one != measured.end()) {
      in_order.push_back(std::move(one->second));
    }
  }
  return in_order;
}

Status ClosedLoop::take_final(Node& one, const Certificate& certificate, std::int64_t phase) {
  const Verdict& verdict = certificate.verdict;
  one.final_phase = phase;
  if (keeps_its_figures(one, verdict, run_.settings)) {
    KP_TRY(journal_.ended(one, nullptr));
  } else {
    take_verdict(one, certificate, nullptr);
    one.confirmed =
        may_be_best(run_.settings, one) && verdict.timing.comparison == Comparison::faster;
    KP_TRY(journal_.ended(one, &certificate));
  }
  report("", &one, &verdict);
  return {};
}

// Whether the node's own evidence says that it is no faster than the baseline.
Result<bool> ClosedLoop::is_refuted(const Node& one) {
  KP_LET(const std::optional<Certificate> known, journal_.certificate(one.id));
  return known && incumbent_of(*known) == root_node &&
         known->verdict.timing.comparison != Comparison::faster;
}

// What was clean before and could not be confirmed or refuted now stands in where nothing is
// confirmed.
Status ClosedLoop::choose_by_time(std::int64_t phase) {
  const Node* best = nullptr;
  for (const bool confirmed : {true, false}) {
    for (const Node& one : nodes_) {
      const bool eligible = one.final_phase == phase && one.confirmed == confirmed &&
                            may_be_best(run_.settings, one) &&
                            one.speedup_interval.low > (confirmed ? 1 : clear_of_best);
      if (!eligible || (best != nullptr && !is_better_finalist(one, *best))) {
        continue;
      }
      KP_LET(const bool refuted, confirmed ? Result<bool>(false) : is_refuted(one));
      best = refuted ? best : &one;
    }
    if (best != nullptr) {
      break;
    }
  }
  best_ = best == nullptr ? root_node : best->id;
  return {};
}

Status ClosedLoop::choose_by_energy(std::int64_t phase) {
  std::vector<Finalist> finalists;
  for (const Node& one : nodes_) {
    if (one.final_phase != phase || !may_be_best(run_.settings, one)) {
      continue;
    }
    KP_LET(const std::optional<Certificate> known, journal_.certificate(one.id));
    if (known && known->verdict.energy) {
      finalists.push_back(finalist_of(one.id, known->verdict));
    }
  }
  run_.ranking = rank_finalists(std::move(finalists), run_.settings.objective);
  const auto winner = std::find_if(run_.ranking.begin(), run_.ranking.end(),
                                   [](const Finalist& one) { return one.holds; });
  best_ = winner == run_.ranking.end() ? root_node : winner->node;
  return {};
}

}  // namespace kernelpro
