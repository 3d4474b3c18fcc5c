#include "coordinator/tune/tuner.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kernelpro {

namespace {

// Chosen on landscapes, as bench/search/README.md says.
constexpr int draws_to_spread = 10;  // of which the one farthest from all known is taken
constexpr std::size_t leaders = 4;   // whose surroundings are looked at
constexpr int far_moves = 150;       // of each of them, in two parameters or three
constexpr int far_draws = 250;
constexpr std::size_t most_examined = 120;  // whose deviation is computed
constexpr double brightness = 0.5;          // of a guess, in scales of the surrogate
constexpr double failure_cost = 2;          // the same

// A proposal takes time by the third power of what is modeled. These stay within 5 ms.
constexpr std::size_t most_modeled = 240;
constexpr std::size_t fastest_modeled = 160;  // of them; the rest are the latest

// How many other reaches are tried: many while a fit is cheap.
int tries_for(std::size_t modeled) {
  constexpr std::size_t cheap = 100;
  constexpr int at_first = 6;
  if (modeled < cheap) {
    return at_first;
  }
  return modeled % 4 == 0 ? 2 : 0;
}

// Who is slower than half of them is so for any reason: how much slower would only draw the model
// away from the differences that matter.
std::vector<double> clipped(std::vector<double> values) {
  constexpr double margin = 0.05;  // so that not all are the same
  std::vector<double> sorted = values;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  for (double& value : values) {
    value = std::min(value, *middle + margin);
  }
  return values;
}

// By how much a normal variable falls below `best` on average, where what lies above counts 0.
double expected_gain(const Prediction& predicted, double best) {
  const double ahead = best - predicted.mean;
  const double z = ahead / predicted.deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return ahead * 0.5 * std::erfc(-z / std::numbers::sqrt2) + predicted.deviation * density;
}

}  // namespace

void Tuner::tell(const PointResult& result) {
  const bool sound = !result.time || (std::isfinite(*result.time) && *result.time > 0);
  if (!sound || !space_.admits(result.code) || !told_.insert(result.code).second) {
    return;
  }
  known_.insert(result.code);
  std::erase(waiting_, result.code);
  outcomes_.emplace_back(result.code, result.time.has_value());
  if (!result.time) {
    return;
  }
  const std::pair<double, Code> entry(std::log(*result.time), result.code);
  passed_.insert(std::upper_bound(passed_.begin(), passed_.end(), entry), entry);
  in_order_.push_back(entry);
}

std::optional<Code> Tuner::ask() {
  std::optional<Code> code;
  if (told_.size() >= first_draws_ && passed_.size() >= 2) {
    fit();
    code = most_gain();
  }
  if (!code) {
    code = spread_out();
  }
  if (code) {
    known_.insert(*code);
    waiting_.push_back(*code);
  }
  return code;
}

// How far the nearest known one is, in whole lists.
double Tuner::nearest(Code code) const {
  auto least = static_cast<double>(space_.axes());
  for (const Code other : known_) {
    double apart = 0;
    for (std::size_t axis = 0; axis < space_.axes(); ++axis) {
      const auto a = static_cast<double>(space_.value(code, axis));
      const auto b = static_cast<double>(space_.value(other, axis));
      const auto last = static_cast<double>(space_.values_of(axis)) - 1;
      const bool ordinal = space_.parameters()[axis].ordinal;
      const double most = ordinal ? std::abs(a - b) / last : 1;
      apart += a == b ? 0 : most;
    }
    least = std::min(least, apart);
  }
  return least;
}

std::optional<Code> Tuner::spread_out() {
  std::optional<Code> best;
  double farthest = 0;
  // Later the surrogate has nothing left around the best: any will do.
  const int draws = known_.size() < 2 * first_draws_ ? draws_to_spread : 1;
  for (int i = 0; i < draws; ++i) {
    const std::optional<Code> code = draw_unknown(space_, random_, known_);
    const double far = code ? nearest(*code) : 0;
    if (code && (!best || far > farthest)) {
      best = code;
      farthest = far;
    }
  }
  return best;
}

void Tuner::fit() {
  if (fitted_ == told_.size()) {
    return;
  }
  fitted_ = told_.size();
  fit_times();
  if (passed_.size() < outcomes_.size()) {
    fit_passing();
  }
}

void Tuner::fit_passing() {
  std::vector<Places> points;
  std::vector<double> values;
  const std::size_t count = std::min(outcomes_.size(), most_modeled);
  for (std::size_t i = outcomes_.size() - count; i < outcomes_.size(); ++i) {
    points.push_back(surrogate_.places(space_, outcomes_[i].first));
    values.push_back(outcomes_[i].second ? 1 : 0);
  }
  const int tries = tries_for(count);
  passing_.fit(std::move(points), std::move(values), random_, tries);
}

void Tuner::fit_times() {
  std::vector<std::pair<double, Code>> modeled = in_order_;
  if (modeled.size() > most_modeled) {
    modeled.assign(passed_.begin(), passed_.begin() + fastest_modeled);
    modeled.insert(modeled.end(), in_order_.end() - (most_modeled - fastest_modeled),
                   in_order_.end());
    std::sort(modeled.begin(), modeled.end());
    modeled.erase(std::unique(modeled.begin(), modeled.end()), modeled.end());
  }
  std::vector<Places> points;
  std::vector<double> values;
  for (const auto& [value, code] : modeled) {
    points.push_back(surrogate_.places(space_, code));
    values.push_back(value);
  }
  const int tries = tries_for(modeled.size());
  surrogate_.fit(std::move(points), clipped(std::move(values)), random_, tries);
}

Code Tuner::moved(Code code) {
  const std::uint64_t moves = 2 + random_.below(2);
  for (std::uint64_t i = 0; i < moves; ++i) {
    const std::size_t axis = random_.below(space_.axes());
    code = space_.with(code, axis, random_.below(space_.values_of(axis)));
  }
  return code;
}

std::vector<Code> Tuner::gather() {
  std::vector<Code> found;
  for (std::size_t i = 0; i < std::min(leaders, passed_.size()); ++i) {
    const Code leader = passed_[i].second;
    const std::vector<Code> near = space_.neighbors(leader);
    found.insert(found.end(), near.begin(), near.end());
    for (int k = 0; k < far_moves; ++k) {
      if (const Code code = moved(leader); space_.admits(code)) {
        found.push_back(code);
      }
    }
  }
  for (int i = 0; i < far_draws; ++i) {
    found.push_back(space_.draw(random_));
  }
  std::erase_if(found, [this](Code code) { return known_.contains(code); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Tuner::Prospect> Tuner::promising(const std::vector<Code>& codes) const {
  std::vector<Prospect> all;
  for (const Code code : codes) {
    Prospect one;
    one.code = code;
    one.places = surrogate_.places(space_, code);
    one.alike = surrogate_.alike(one.places);
    const double near = *std::max_element(one.alike.begin(), one.alike.end());
    one.chance = chance_to_pass(one.places);
    const double unsure = std::sqrt(std::max(0.0, 1 - near * near));
    one.hope = surrogate_.mean(one.alike) +
               surrogate_.scale() * (failure_cost * (1 - one.chance) - brightness * unsure);
    all.push_back(std::move(one));
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(all.size(), most_examined));
  std::partial_sort(
      all.begin(), all.begin() + count, all.end(),
      [](const Prospect& one, const Prospect& other) { return one.hope < other.hope; });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

double Tuner::chance_to_pass(const Places& places) const {
  constexpr double least = 0.01;  // never none: it is a guess
  return passed_.size() == outcomes_.size()
             ? 1
             : std::clamp(passing_.mean(passing_.alike(places)), least, 1.0);
}

// What is like one that is under way will be known soon.
double Tuner::chance_to_be_new(const Prospect& one) const {
  double near = 0;
  for (const Code other : waiting_) {
    near = std::max(near, surrogate_.similarity(one.places, surrogate_.places(space_, other)));
  }
  return 1 - near * near;
}

std::optional<Code> Tuner::most_gain() {
  std::optional<Code> best;
  double most = 0;
  for (const Prospect& one : promising(gather())) {
    const double gain = expected_gain(surrogate_.predict(one.alike), passed_.front().first) *
                        one.chance * chance_to_be_new(one);
    if (!best || gain > most) {
      best = one.code;
      most = gain;
    }
  }
  return best;
}

}  // namespace kernelpro
