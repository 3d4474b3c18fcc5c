#include "coordinator/memory/situation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/sort.hpp"
#include "coordinator/memory/traits.hpp"

namespace kernelpro::memory {

namespace {

constexpr double other_class = 0.4;
constexpr double unknown_class = 0.7;
constexpr double other_finding = 0.5;
// Ten tries in one run are not ten opinions.
constexpr double most_of_one_lesson = 4;
// However much is remembered, a few measurements of the run itself outweigh it.
constexpr double most_trials = 6;
constexpr double least_likeness = 0.02;

struct Weighed {
  double weight = 0;
  double gain = 0;
};

double opinion(const Recalled& lesson, double like) {
  return like * std::min(static_cast<double>(lesson.tally.tried), most_of_one_lesson);
}

void weigh(std::map<std::string, Weighed>& all, const std::string& key, const Recalled& lesson,
           double weight) {
  Weighed& one = all[key];
  one.weight += weight;
  one.gain += weight * lesson.tally.useful;
}

// A move of sizes promises what its best size does: it is made concrete first, and ranked again
// then.
void raise_to_best_size(MovePriors& priors, const std::string& move, const MovePrior& size) {
  MovePrior& whole = priors[move];
  if (size.gain > whole.gain) {
    whole = size;
  }
}

}  // namespace

std::string class_of(const Diagnosis& diagnosis) {
  return std::string(diagnosis.kind != KernelClass::unknown ? name_of(diagnosis.kind)
                                                            : name_of(diagnosis.bottleneck));
}

std::string finding_for(const Diagnosis& diagnosis, const std::string& move) {
  const Finding* best = nullptr;
  for (const Finding& finding : diagnosis.findings) {
    const bool names = std::ranges::find(finding.moves, move) != finding.moves.end();
    if (names && (best == nullptr || finding.predicted_gain > best->predicted_gain)) {
      best = &finding;
    }
  }
  return best == nullptr ? "" : best->tool;
}

Situation situation_of(const Candidate& candidate, const Diagnosis& diagnosis) {
  Situation out;
  out.code = code_traits(candidate, diagnosis);
  out.bottleneck = class_of(diagnosis);
  for (const Finding& finding : diagnosis.findings) {
    out.findings.push_back(finding.tool);
  }
  return out;
}

double likeness(const Recalled& lesson, const Situation& situation) {
  constexpr const char* unknown = "unknown";
  double like =
      lesson.weight * std::exp(-distance(code_trait_kinds(), lesson.code, situation.code));
  if (lesson.bottleneck != situation.bottleneck) {
    const bool known = lesson.bottleneck != unknown && situation.bottleneck != unknown;
    like *= known ? other_class : unknown_class;
  }
  if (!lesson.finding.empty() &&
      std::ranges::find(situation.findings, lesson.finding) == situation.findings.end()) {
    like *= other_finding;
  }
  return like;
}

MovePriors priors_for(const Recollection& recollection, const Situation& situation) {
  std::map<std::string, Weighed> moves;
  std::map<std::string, Weighed> sizes;
  std::map<std::string, std::string> move_of;
  for (const Recalled& lesson : recollection.lessons) {
    const double like = likeness(lesson, situation);
    if (like < least_likeness) {
      continue;
    }
    weigh(moves, lesson.move, lesson, opinion(lesson, like));
    if (is_size(lesson.site)) {
      const std::string key = prior_key(lesson.move, lesson.site);
      weigh(sizes, key, lesson, opinion(lesson, like));
      move_of[key] = lesson.move;
    }
  }
  const auto prior = [](const Weighed& one) {
    return MovePrior{one.gain / one.weight, std::min(one.weight, most_trials)};
  };
  MovePriors priors;
  for (const auto& [move, weighed] : moves) {
    priors[move] = prior(weighed);
  }
  for (const auto& [key, weighed] : sizes) {
    priors[key] = prior(weighed);
    raise_to_best_size(priors, move_of[key], priors[key]);
  }
  return priors;
}

std::vector<Advice> advice_for(const Recollection& recollection, const Situation& situation,
                               std::size_t most) {
  std::map<std::string, Advice> by_move;
  for (const Recalled& lesson : recollection.lessons) {
    const double like = likeness(lesson, situation);
    if (like < least_likeness) {
      continue;
    }
    Advice& advice = by_move[lesson.move];
    advice.move = lesson.move;
    advice.weight += opinion(lesson, like);
    advice.tally.merge(lesson.tally);
  }
  std::vector<Advice> out;
  out.reserve(by_move.size());
  for (auto& [move, advice] : by_move) {
    out.push_back(std::move(advice));
  }
  sort_keeping_ties(out, [](const Advice& a, const Advice& b) { return a.weight > b.weight; });
  out.resize(std::min(out.size(), most));
  return out;
}

}  // namespace kernelpro::memory
