#include "worker/judge/likely.hpp"

#include <algorithm>

#include "worker/judge/statistics.hpp"

namespace kernelpro {

double undisturbed_ns(const Round& round, double took_ns, int threads) {
  const double longest_ns = std::max(took_ns, 1.0);
  const double least_ns = std::min(round.used_ns / std::max(threads, 1), longest_ns);
  return std::clamp(longest_ns - round.busy_ns - round.others_ns, least_ns, longest_ns);
}

double likely_speedup(const TimedRounds& candidate, const TimedRounds& incumbent, int threads) {
  std::vector<double> ratios;
  ratios.reserve(candidate.rounds.size());
  for (std::size_t i = 0; i < candidate.rounds.size(); ++i) {
    ratios.push_back(
        undisturbed_ns(incumbent.rounds[i], incumbent.took_ns[i], threads) /
        std::max(undisturbed_ns(candidate.rounds[i], candidate.took_ns[i], threads), 1.0));
  }
  return ratios.empty() ? 0 : median(std::move(ratios));
}

}  // namespace kernelpro
