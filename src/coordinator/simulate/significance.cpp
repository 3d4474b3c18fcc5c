#include "coordinator/simulate/significance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.hpp"

namespace kernelpro {

double permutation_p(const std::vector<double>& one, const std::vector<double>& other,
                     std::uint64_t seed) {
  constexpr int relabelings = 9'999;
  if (one.empty() || other.empty()) {
    return 1;
  }
  std::vector<double> all = one;
  all.insert(all.end(), other.begin(), other.end());
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  const auto count = static_cast<double>(one.size());
  const auto apart = [&](double sum) {
    return std::abs(sum / count - (total - sum) / static_cast<double>(other.size()));
  };
  // Sums in another order differ in their last bits: that is no difference.
  constexpr double rounding = 1e-12;
  const double found = apart(std::accumulate(one.begin(), one.end(), 0.0)) - rounding;
  Random random(seed);
  int as_far = 1;
  for (int i = 0; i < relabelings; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < one.size(); ++k) {
      std::swap(all[k], all[k + random.below(all.size() - k)]);
      sum += all[k];
    }
    as_far += apart(sum) >= found ? 1 : 0;
  }
  return static_cast<double>(as_far) / (relabelings + 1);
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&p_values](std::size_t one, std::size_t other) {
    return p_values[one] < p_values[other];
  });
  std::vector<double> corrected(p_values.size());
  double least = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    least = std::max(least, std::min(1.0, left * p_values[order[rank]]));
    corrected[order[rank]] = least;
  }
  return corrected;
}

}  // namespace kernelpro
