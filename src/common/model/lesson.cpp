#include "common/model/lesson.hpp"

#include <algorithm>
#include <cmath>

namespace kernelpro {

void Tally::add_gain(double log_gain) {
  Tally one;
  one.tried = 1;
  one.mean = log_gain;
  one.useful = std::max(0.0, log_gain);
  merge(one);
}

void Tally::add_failure(Outcome outcome) {
  Tally one;
  one.tried = 1;
  one.failed = 1;
  one.causes[std::string(name_of(outcome))] = 1;
  merge(one);
}

void Tally::merge(const Tally& other) {
  const auto all = static_cast<double>(tried + other.tried);
  if (all > 0) {
    useful =
        (useful * static_cast<double>(tried) + other.useful * static_cast<double>(other.tried)) /
        all;
  }
  const auto left = static_cast<double>(tried - failed);
  const auto right = static_cast<double>(other.tried - other.failed);
  if (left + right > 0) {
    const double apart = other.mean - mean;
    const double squares = left * spread * spread + right * other.spread * other.spread +
                           apart * apart * left * right / (left + right);
    mean += apart * right / (left + right);
    spread = std::sqrt(squares / (left + right));
  }
  tried += other.tried;
  failed += other.failed;
  for (const auto& [cause, count] : other.causes) {
    causes[cause] += count;
  }
}

bool is_size(const std::string& site) {
  return site.find(" = ") != std::string::npos;
}

std::string prior_key(const std::string& move, const std::string& site) {
  return is_size(site) ? move + " " + site : move;
}

MovePrior find_prior(const MovePriors& priors, const std::string& move, const std::string& site) {
  for (const std::string& key : {prior_key(move, site), move}) {
    if (const auto found = priors.find(key); found != priors.end()) {
      return found->second;
    }
  }
  return {};
}

}  // namespace kernelpro
