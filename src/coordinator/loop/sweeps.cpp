#include "coordinator/loop/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "common/base/random.hpp"
#include "coordinator/tune/source_space.hpp"

namespace kernelpro {

namespace {

// A sweep may take a quarter of a run, and this many programs at least.
constexpr std::int64_t least_programs = 4;
constexpr std::int64_t share_of_run = 4;
// So many results without a gain beyond noise end it.
constexpr int most_in_vain = 6;
constexpr double least_gain = 0.01;
// Of the programs of a sweep, drawn before the tuner models them: it may be as short as that.
constexpr std::size_t first_draws = 3;

std::int64_t most_programs(const RunSettings& settings) {
  return std::max(least_programs, settings.evaluations / share_of_run);
}

}  // namespace

Status Sweeps::open(const Node& node, const Candidate& candidate, const std::string& move) {
  KP_LET(const std::vector<Tunable> tunables, parse_tunables(candidate.source));
  KP_LET(TuneSpace space, space_of(tunables));
  KP_LET(const Code present, code_of(space, tunables));
  const std::optional<Code> related = related_best(space);
  const std::uint64_t seed = counter_hash(run_.settings.seed, static_cast<std::uint64_t>(node.id));
  auto sweep = std::make_unique<Sweep>(std::move(space), candidate, seed, first_draws);
  sweep->tuner.tell({present, 1 / node.speedup});
  sweep->move = move;
  sweep->best_code = present;
  sweep->best = std::log(node.speedup);
  sweep->hint = related && *related != present ? related : std::nullopt;
  sweeps_[node.id] = std::move(sweep);
  return {};
}

std::optional<Code> Sweeps::related_best(const TuneSpace& space) const {
  for (const auto& [node, sweep] : std::views::reverse(sweeps_)) {
    if (sweep->space.parameters() == space.parameters()) {
      return sweep->best_code;
    }
  }
  return std::nullopt;
}

bool Sweeps::goes_on(const Sweep& sweep) const {
  return !sweep.exhausted && sweep.in_vain < most_in_vain &&
         sweep.born < most_programs(run_.settings);
}

std::optional<Choice> Sweeps::next() const {
  for (const auto& [node, sweep] : sweeps_) {
    if (goes_on(*sweep)) {
      return Choice{.parent = node,
                    .reasons = {fmt::format(
                        "the tuner sweeps the tunables of node {}: program {} of {} at most, {} "
                        "results since the last gain",
                        node, sweep->born + 1, most_programs(run_.settings), sweep->in_vain)}};
    }
  }
  return std::nullopt;
}

Result<std::optional<Proposal>> Sweeps::propose(NodeId swept, NodeId fresh) {
  Sweep& sweep = *sweeps_.at(swept);
  const std::optional<Code> code =
      sweep.hint ? std::exchange(sweep.hint, std::nullopt) : sweep.tuner.ask();
  if (!code) {
    sweep.exhausted = true;
    return std::optional<Proposal>();
  }
  ++sweep.born;
  sweep.codes[fresh] = *code;
  swept_of_[fresh] = swept;
  Proposal proposal;
  proposal.move = sweep.move;
  proposal.site = sweep.space.text(*code);
  proposal.plan = "The tuner's choice: " + proposal.site;
  proposal.candidate = sweep.candidate;
  KP_LET(proposal.candidate.source, source_at(sweep.candidate.source, sweep.space, *code));
  return std::optional(std::move(proposal));
}

Status Sweeps::born_again(const Node& node, const std::string& source) {
  KP_LET(const std::optional<Proposal> proposal, propose(node.parent, node.id));
  Sweep& sweep = *sweeps_.at(node.parent);
  KP_LET(const std::vector<Tunable> tunables, parse_tunables(source));
  // What was recorded is what was tried, whatever would be tried today.
  if (const Result<Code> code = code_of(sweep.space, tunables)) {
    sweep.codes[node.id] = *code;
    swept_of_[node.id] = node.parent;
  }
  return {};
}

std::optional<Sweeps::Credit> Sweeps::ended(const Node& node, const Node& judged) {
  const auto swept = swept_of_.find(node.id);
  if (swept == swept_of_.end()) {
    return std::nullopt;
  }
  Sweep& sweep = *sweeps_.at(swept->second);
  const Code code = sweep.codes.at(node.id);
  const bool known = judged.state == NodeState::judged && judged.outcome != Outcome::not_judged;
  const bool sound =
      known && judged.outcome == Outcome::passed && may_be_best(run_.settings, judged);
  if (known) {
    sweep.tuner.tell({code, sound ? std::optional(1 / judged.speedup) : std::nullopt});
  }
  Credit credit{.first = sweep.results++ == 0, .log_gain = 0};
  ++sweep.in_vain;
  if (const double reached = sound ? std::log(judged.speedup) : sweep.best;
      reached > sweep.best + least_gain) {
    credit.log_gain = reached - sweep.best;
    sweep.best = reached;
    sweep.best_code = code;
    sweep.in_vain = 0;
  }
  return credit;
}

}  // namespace kernelpro
