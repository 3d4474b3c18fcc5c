// Which clock counts.
#include <algorithm>

#include "worker/judge/statistics.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {

namespace {

constexpr double resolution = 0.005;  // the share of a round that the hand-over may be in doubt by
constexpr double null_spreads = 3;    // what counts as noise, in spreads of the empty rounds

// By how much one hand-over may differ from the others, and all of them together from ours.
double noise_ns(const NullClock& null) {
  return std::max(null_spreads * null.spread_ns, null.doubt_ns);
}
double common_noise_ns(const NullClock& null) {
  return std::max(null.spread_ns, null.doubt_ns);
}

}  // namespace

NullClock summarize_null(const std::vector<Round>& rounds, double doubt_ns) {
  std::vector<double> walls_ns;
  std::vector<double> delays_ns;
  for (const Round& round : rounds) {
    walls_ns.push_back(round.wall_ns - round.claim_ns);
    delays_ns.push_back(round.delay_ns);
  }
  return {median(walls_ns), quantile(walls_ns, 0.75) - quantile(walls_ns, 0.25), median(delays_ns),
          doubt_ns};
}

// Where each hand-over counts, its noise. On a processor all of it: threads of a candidate could
// work while the main one is woken and stopped, and none of that time counts.
double least_round_ns(const NullClock& null, bool each) {
  return (each ? noise_ns(null) : std::max(common_noise_ns(null), null.median_ns)) / resolution;
}

ClockCheck check_clock(const std::vector<Round>& rounds, const NullClock& live,
                       const NullClock& clean) {
  constexpr double lower_quartile = 0.25;
  ClockCheck check;
  std::vector<double> ours_ns;
  std::vector<double> live_ns;
  std::vector<double> gaps;
  std::vector<double> gaps_ns;
  double waited = 0;
  double total = 0;
  for (const Round& round : rounds) {
    const double live_null_ns = round.trusted ? 0 : live.median_ns;
    const double least_null_ns = round.trusted ? 0 : std::min(live.median_ns, clean.median_ns);
    ours_ns.push_back(std::max(round.wall_ns - least_null_ns, 1.0));
    live_ns.push_back(std::max(round.wall_ns - live_null_ns, 1.0));
    const double delay_ns = std::max(round.delay_ns - live.delay_ns, 0.0) + round.others_ns;
    gaps_ns.push_back(live_ns.back() - round.claim_ns - delay_ns);
    gaps.push_back(gaps_ns.back() / live_ns.back());
    waited += round.busy_ns;
    total += round.wall_ns;
  }
  const double round_ns = std::max(median(ours_ns), 1.0);
  check.gap = quantile(gaps, lower_quartile);
  check.gap_ns = quantile(gaps_ns, lower_quartile);
  check.noise = std::max(resolution, std::max(noise_ns(live), noise_ns(clean)) / round_ns);
  check.waiting = total > 0 ? waited / total : 0;
  // However noisy the hand-over is, no more than this is taken on trust: of one round, and of all
  // on average.
  const auto trusted_share = [round_ns](double ns) {
    return std::min(std::max(resolution, ns / round_ns), ClockCheck::proof);
  };
  const double of_one = trusted_share(noise_ns(clean));
  check.tolerance = trusted_share(common_noise_ns(clean));
  check.empty = std::min(live.spread_ns, clean.spread_ns) / round_ns;
  const bool handed_over = std::ranges::none_of(rounds, &Round::trusted);
  check.hand_over =
      handed_over ? std::max(std::min(live.median_ns, clean.median_ns) / round_ns - resolution, 0.0)
                  : 0.0;
  std::vector<double> missing;
  double all_missing = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    missing.push_back(1 - rounds[i].claim_ns / ours_ns[i]);
    all_missing += std::clamp(missing.back(), -of_one, of_one);
  }
  const bool believed = all_missing <= check.tolerance * static_cast<double>(rounds.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const bool one_believed = believed && missing[i] <= of_one;
    check.believed_ns.push_back(one_believed ? rounds[i].claim_ns : ours_ns[i]);
    check.least_ns.push_back(std::min(rounds[i].claim_ns, live_ns[i]));
  }
  return check;
}

}  // namespace kernelpro
