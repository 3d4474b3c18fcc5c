#include "common/model/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace kernelpro {

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  if (share == 0) {
    return values[below];
  }
  return (values[below] * (1 - share)) + (values[below + 1] * share);
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) {
    return 0;
  }
  double sum = 0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace kernelpro
