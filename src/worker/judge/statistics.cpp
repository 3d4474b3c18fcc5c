#include "worker/judge/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "common/base/random.hpp"

namespace kernelpro {
namespace {

// The median of a resample, given how often it drew each of the sorted values.
double median_of_counts(const std::vector<double>& sorted, const std::vector<unsigned>& counts) {
  const std::size_t upper_rank = sorted.size() / 2;
  const std::size_t lower_rank = (sorted.size() - 1) / 2;
  std::size_t index = 0;
  std::size_t seen = counts[0];
  while (seen <= lower_rank) {
    seen += counts[++index];
  }
  const double lower = sorted[index];
  while (seen <= upper_rank) {
    seen += counts[++index];
  }
  return (lower + sorted[index]) / 2;
}

bool is_time(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

// Draws ranks of the sorted values and counts them: a resample's median is then a short walk, with
// nothing to sort.
Interval bootstrap_median(const std::vector<double>& values, std::uint64_t seed, int resamples) {
  if (values.empty()) {
    return {};
  }
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  std::vector<unsigned> counts(sorted.size());
  std::vector<double> medians;
  medians.reserve(static_cast<std::size_t>(std::max(resamples, 0)));
  Random random(seed);
  for (int i = 0; i < resamples; ++i) {
    std::ranges::fill(counts, 0U);
    for (std::size_t draw = 0; draw < sorted.size(); ++draw) {
      ++counts[random.below(sorted.size())];
    }
    medians.push_back(median_of_counts(sorted, counts));
  }
  return {.low = quantile(medians, 0.025), .high = quantile(std::move(medians), 0.975)};
}

PairedRatio paired_ratio(const std::vector<double>& candidate, const std::vector<double>& incumbent,
                         std::uint64_t seed) {
  const bool known = !candidate.empty() && candidate.size() == incumbent.size() &&
                     std::ranges::all_of(candidate, is_time) &&
                     std::ranges::all_of(incumbent, is_time);
  if (!known) {
    return {.ratio = 1, .interval = {.low = 0, .high = std::numeric_limits<double>::infinity()}};
  }
  std::vector<double> logs(candidate.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] = std::log(incumbent[i] / candidate[i]);
  }
  const Interval interval = bootstrap_median(logs, seed);
  return {.ratio = std::exp(median(logs)),
          .interval = {.low = std::exp(interval.low), .high = std::exp(interval.high)}};
}

double noise_floor(const std::vector<double>& first, const std::vector<double>& second,
                   std::uint64_t seed, double least) {
  const Interval interval = paired_ratio(first, second, seed).interval;
  return std::max({least, interval.high - 1, (1 / interval.low) - 1});
}

Comparison compare(const Interval& speedup, double floor) {
  if (speedup.low > 1 + floor) {
    return Comparison::faster;
  }
  if (speedup.high < 1 / (1 + floor)) {
    return Comparison::slower;
  }
  return Comparison::same;
}

double unevenness(const std::vector<double>& candidate, const std::vector<double>& incumbent) {
  constexpr std::size_t least_rounds = 5;
  constexpr double explained = 1.05;
  if (candidate.size() < least_rounds) {
    return 1;
  }
  const auto excess = [](const std::vector<double>& rounds) {
    return std::accumulate(rounds.begin(), rounds.end(), 0.0) / static_cast<double>(rounds.size()) /
           median(rounds);
  };
  const auto without_slowest = [](std::vector<double> rounds) {
    std::sort(rounds.begin(), rounds.end());
    rounds.resize(rounds.size() - rounds.size() / 10);
    return rounds;
  };
  const double others = std::max(excess(without_slowest(incumbent)), 1.0);
  // Who is uneven without its slowest tenth has no claim to leave that out.
  return excess(without_slowest(candidate)) / others > explained ? excess(candidate) / others : 1;
}

}  // namespace kernelpro
