#include "coordinator/search/horizon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelpro {

namespace {

// Chosen on the tuning splits of bench/search/README.md. Tries that are thought of at one place, of
// the root of what is left; of the second where no diagnosis says what holds a node up, and a slow
// node promises little that a fast one lacks.
constexpr double diagnosed_reach = 4;
constexpr double blind_reach = 0.5;
constexpr double first_gain = 0.12;    // of a try at the root
constexpr double fade = 0.65;          // of that, from a step to the next
constexpr int fading_steps = 3;        // after which it fades no more
constexpr double outlook_power = 0.3;  // of what a diagnosis foresees
constexpr double weight = 6;           // tries that all that counts for
// Of a run that does not say what is left.
constexpr double usual_left = 40;

// Below a tenth of the baseline, how slow exactly says nothing more.
double reward_of(const SearchResult& result) {
  return std::log(std::max(result.speedup, 0.1)) - result.noise;
}

}  // namespace

std::optional<Choice> Horizon::do_ask(std::int64_t left) {
  const double tries = left == unknown_budget ? usual_left : static_cast<double>(left) + 1;
  const double reach = (diagnosed_ ? diagnosed_reach : blind_reach) * std::sqrt(tries);
  const double shared = reach * level();
  Index best = no_index;
  double most = 0;
  for (Index index = 0; index < outsets_.size(); ++index) {
    const Outset& outset = outsets_[index];
    const double promise = outset.reward + shared * outset.share + reach * outset.seen;
    if (outset.open && (best == no_index || promise > most)) {
      best = index;
      most = promise;
    }
  }
  return best == no_index ? last_resort() : choice(best, reach);
}

Choice Horizon::choice(Index index, double reach) const {
  const std::string of_source = fmt::format("node {} ({})", tree_[index].id, tree_.standing(index));
  const std::string why = fmt::format(
      "log speed-up {:.2f} + {:.1f} tries that gain {:.3f} each = {:.2f}, the most",
      nodes_[index].reward, reach, expected(index), nodes_[index].reward + reach * expected(index));
  if (tree_.expandable(index)) {
    return {.parent = tree_[index].id, .reasons = {of_source + ": " + why}};
  }
  const Index failure = nodes_[index].failures.front();
  return {.parent = tree_[failure].id,
          .reasons = {of_source + ": " + why,
                      fmt::format("nothing is left there but to repair node {} ({})",
                                  tree_[failure].id, tree_.standing(failure))}};
}

// What was repaired before may be repaired again.
std::optional<Choice> Horizon::last_resort() const {
  for (Index index = 0; index < tree_.size(); ++index) {
    if (tree_.expandable(index)) {
      return Choice{.parent = tree_[index].id,
                    .reasons = {fmt::format("node {} ({}) is the oldest of those left",
                                            tree_[index].id, tree_.standing(index))}};
    }
  }
  return std::nullopt;
}

// What a try gains at the root of a run, with a diagnosis that foresees nothing in particular.
double Horizon::level() const {
  return first_gain * std::exp(-outlook_power * mean_outlook_);
}

double Horizon::share_of(const Node& node) {
  return std::pow(fade, node.steps) * std::exp(outlook_power * node.outlook);
}

double Horizon::expected(Index index) const {
  return level() * outsets_[index].share + outsets_[index].seen;
}

// The share of what was expected of a node that its tries gave.
double Horizon::fulfilled(const Node& source) const {
  const double expected = level() * share_of(source);
  const double given =
      (weight * expected * source.inherited + source.gained) / (weight + source.tries);
  return std::min(1.0, given / expected);
}

void Horizon::begin(NodeId child, NodeId parent) {
  const std::optional<Index> index = tree_.begin(child, parent);
  if (!index) {
    return;
  }
  nodes_.resize(tree_.size());
  outsets_.resize(tree_.size());
  const Index above = tree_[*index].parent;
  if (above == no_index) {
    return;
  }
  const Index source = above == 0 || tree_.passed(above) ? above : nodes_[above].source;
  nodes_[*index].source = source;
  ++nodes_[above].proposals;
  ++nodes_[source].in_flight;
  std::erase(nodes_[source].failures, above);
  refresh(source);
}

void Horizon::tell(const SearchResult& result) {
  const std::optional<Index> index = tree_.tell(result);
  if (!index) {
    return;
  }
  const Index above = tree_[*index].parent;
  if (above == no_index) {
    nodes_[*index].reward = tree_.passed(*index) ? reward_of(result) : 0;
    take_diagnosis(nodes_[*index], result);
    refresh(*index);
    return;
  }
  const Index source = nodes_[*index].source;
  --nodes_[source].in_flight;
  if (tree_[*index].state == TreeNode::State::forgotten) {
    --nodes_[above].proposals;
    offer_repair(above);
  } else {
    take(*index, result);
  }
  refresh(source);
}

void Horizon::take(Index index, const SearchResult& result) {
  if (!tree_.passed(index)) {
    offer_repair(index);
    return;
  }
  Node& node = nodes_[index];
  Node& source = nodes_[node.source];
  // What may never be the best must not draw the search to it either.
  node.reward = result.eligible ? reward_of(result) : std::min(reward_of(result), source.reward);
  const double gain = node.reward - source.reward;
  ++source.tries;
  source.gained += std::max(gain, 0.0);
  const bool held_up_anew = result.kind != 0 && source.kind != 0 && result.kind != source.kind;
  node.steps = held_up_anew ? 0 : std::min(source.steps + 1, fading_steps);
  node.inherited = fulfilled(source);
  take_diagnosis(node, result);
  refresh(index);
}

void Horizon::take_diagnosis(Node& node, const SearchResult& result) {
  diagnosed_ = diagnosed_ || result.kind != 0 || result.outlook > 0;
  node.kind = result.kind;
  node.outlook = mean_outlook_;
  if (result.outlook > 0) {
    node.outlook = std::log(result.outlook);
    mean_outlook_ += (node.outlook - mean_outlook_) / ++outlooks_;
  }
}

void Horizon::offer_repair(Index index) {
  const Index source = nodes_[index].source;
  if (index != 0 && tree_.failed(index) && tree_.expandable(index) &&
      nodes_[index].proposals == 0) {
    std::vector<Index>& failures = nodes_[source].failures;
    failures.insert(std::ranges::lower_bound(failures, index), index);
  }
}

void Horizon::close(NodeId node, const std::string& reason) {
  const std::optional<Index> index = tree_.close(node, reason);
  if (!index) {
    return;
  }
  if (const Index source = nodes_[*index].source; source != no_index) {
    std::erase(nodes_[source].failures, *index);
    refresh(source);
  }
  refresh(*index);
}

void Horizon::refresh(Index index) {
  const Node& node = nodes_[index];
  const bool is_outset = index == 0 || tree_.passed(index);
  const double tries = weight + node.tries + node.in_flight;
  outsets_[index] = {
      .open = is_outset && (tree_.expandable(index) || !node.failures.empty()),
      .reward = node.reward,
      .share = weight * share_of(node) * node.inherited / tries,
      .seen = node.gained / tries,
  };
}

std::vector<std::string> Horizon::explain(NodeId node) const {
  std::vector<std::string> lines = tree_.explain(node);
  const std::optional<Index> index = tree_.find(node);
  if (index && tree_[*index].state == TreeNode::State::judged) {
    const Node& one = nodes_[*index];
    lines.push_back(
        fmt::format("{} tries passed and gained {:.3f} together, as a logarithm; {} in "
                    "flight; the next is expected to gain {:.3f}",
                    one.tries, one.gained, one.in_flight, expected(*index)));
  }
  return lines;
}

}  // namespace kernelpro
