#include "coordinator/memory/trust.hpp"

#include <algorithm>
#include <cmath>

namespace kernelpro::memory {

void Trust::measured(double gain, const MovePrior& remembered, double otherwise) {
  // What is worth less than half a trial predicts nothing.
  constexpr double least_trials = 0.5;
  // Errors of a prediction, as logarithms of gains, that are usual among like kernels.
  constexpr double usual_error = 0.3;
  // One measurement, however far off, may be an accident.
  constexpr double most_at_once = 2;
  constexpr double most_certain = 4;
  if (remembered.trials < least_trials) {
    return;
  }
  const double off = gain - remembered.gain;
  const double other_off = gain - otherwise;
  const double evidence = (other_off * other_off - off * off) / (2 * usual_error * usual_error);
  log_odds_ = std::clamp(log_odds_ + std::clamp(evidence, -most_at_once, most_at_once),
                         -most_certain, most_certain);
}

double Trust::share() const {
  return 1 / (1 + std::exp(-log_odds_));
}

}  // namespace kernelpro::memory
