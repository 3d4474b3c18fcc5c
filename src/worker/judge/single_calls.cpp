#include "worker/judge/single_calls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/judge/statistics.hpp"

namespace kernelpro {

namespace {

// For having computed at all, our clock shows 3.3 to 5.5 us on an H200 beyond a call of the empty
// candidate, one process one more or less than another.
constexpr double computed_at_least_ns = 3300;
constexpr double processes_differ_ns = 2200;
// If they differ evenly, two of them differ by more than this share of it in one case of eighteen.
constexpr double doubted_share = 2.0 / 3;
// Beyond its call in a round, with 5 us for a start from an empty queue.
constexpr double incumbent_at_most_ns = 10.5e3;
// Where that is a smaller share of a call it is left out: from 29.4 us up.
constexpr double small_share = 0.075;
// How much longer a call may take by itself or in a round, by its start.
constexpr double explained_share = 0.005;

// The arms take turns in going first, which may make a difference: two neighbors have none.
std::vector<double> of_neighbors(std::vector<double> saved_ns) {
  for (std::size_t i = 0; i + 1 < saved_ns.size(); ++i) {
    saved_ns[i] = (saved_ns[i] + saved_ns[i + 1]) / 2;
  }
  if (saved_ns.size() > 1) {
    saved_ns.pop_back();
  }
  return saved_ns;
}

}  // namespace

SingleSaving saving_of(const std::vector<SinglePair>& singles, double incumbent_ns, bool trusted,
                       std::uint64_t seed) {
  std::vector<double> saved_ns;
  std::vector<double> incumbents_ns;
  std::vector<double> empties_ns;
  saved_ns.reserve(singles.size());
  bool own_clock = !trusted;  // our own clock on the device, in all of them
  for (const SinglePair& single : singles) {
    const Round& own = single.pair.of(Side::candidate);
    const Round& other = single.pair.of(Side::incumbent);
    own_clock = own_clock && own.gated && other.gated;
    empties_ns.push_back(single.empty.wall_ns);
    if (own.gated && other.gated && !trusted) {
      // Who slows the incumbent here gains no more than its start can take.
      const double most_ns = single.empty.wall_ns + incumbent_ns + incumbent_at_most_ns;
      saved_ns.push_back(std::min(other.wall_ns, most_ns) - own.wall_ns);
      incumbents_ns.push_back(std::min(other.wall_ns, most_ns) - single.empty.wall_ns);
    } else if (own.gated) {
      saved_ns.push_back(incumbent_ns -
                         (own.wall_ns - single.empty.wall_ns - computed_at_least_ns));
    } else {
      // Whom no gate holds back may work while it is handed over to: from its inputs' arrival to
      // the word, and from its reply to its outputs' being taken. On an H200, calls of 7 us took 74
      // us less so than the empty candidate's. So nothing is taken off.
      saved_ns.push_back(incumbent_ns - own.wall_ns);
    }
  }
  saved_ns = of_neighbors(std::move(saved_ns));
  const Interval interval = bootstrap_median(saved_ns, seed);
  const bool known = own_clock && !incumbents_ns.empty();
  SingleSaving saving{median(saved_ns), (interval.high - interval.low) / 2};
  saving.incumbent_ns = known ? median(of_neighbors(std::move(incumbents_ns))) : 0;
  saving.empty_ns = median(empties_ns);
  // They are all alike: a comparison has no others.
  saving.gated = !singles.empty() && singles.front().pair.of(Side::candidate).gated;
  return saving;
}

SinglesAlone alone_of(const std::vector<Round>& incumbent, const std::vector<Round>& empty,
                      bool gated) {
  std::vector<double> more_ns;
  std::vector<double> empties_ns;
  for (std::size_t i = 0; i < empty.size(); ++i) {
    if (empty[i].gated != gated) {
      return {};
    }
    if (gated && incumbent[i].gated) {
      more_ns.push_back(incumbent[i].wall_ns - empty[i].wall_ns);
    }
    empties_ns.push_back(empty[i].wall_ns);
  }
  if (empties_ns.empty()) {
    return {};
  }
  return {more_ns.size() == empties_ns.size() ? median(more_ns) : 0, median(empties_ns),
          quantile(empties_ns, 0.75) - quantile(empties_ns, 0.25)};
}

void hold_against_alone(SingleSaving& saving, const SinglesAlone& alone) {
  const double slowed_ns = saving.empty_ns - alone.empty_ns - alone.empty_spread_ns;
  saving.empty_slowed_ns = alone.empty_ns > 0 ? std::max(slowed_ns, 0.0) : 0;
  if (saving.incumbent_ns <= 0) {
    // It was taken off the candidate's calls alone.
    saving.median_ns -= saving.empty_slowed_ns;
  } else if (alone.incumbent_ns > 0) {
    const double incumbent_ns = saving.incumbent_ns + saving.empty_slowed_ns;
    saving.median_ns -= std::max(incumbent_ns - alone.incumbent_ns, 0.0);
  }
}

// Whatever beside the candidate they left unconfirmed: who slows the incumbent's single calls by as
// much as it overlaps leaves nothing.
bool single_calls_count(const ShapeTiming& timing) {
  return timing.comparison == Comparison::faster || hangs_on_singles(timing);
}

double unconfirmed_share(double candidate_ns, double incumbent_ns,
                         const std::vector<SingleSaving>& savings) {
  const double in_rounds_ns = incumbent_ns - candidate_ns;
  if (in_rounds_ns <= 0 || candidate_ns <= 0) {
    return 0;
  }
  if (savings.empty()) {
    return in_rounds_ns / candidate_ns;
  }
  double sum_ns = 0;
  double noise_ns = 0;
  double slowed_ns = 0;
  bool gated = true;
  for (const SingleSaving& saving : savings) {
    gated = gated && saving.gated;
    sum_ns += saving.median_ns;
    noise_ns += saving.noise_ns;
    slowed_ns += saving.empty_slowed_ns;
  }
  const auto count = static_cast<double>(savings.size());
  if (gated && processes_differ_ns < small_share * candidate_ns) {
    // By so much more than is left out its calls by themselves may be longer than they seem.
    return std::clamp(slowed_ns / count - processes_differ_ns, 0.0, in_rounds_ns) / candidate_ns;
  }
  // Of a mean, chance leaves less.
  const double doubt_ns =
      (doubted_share * processes_differ_ns + noise_ns / count) / std::sqrt(count);
  const double confirmed_ns = sum_ns / count - doubt_ns + explained_share * incumbent_ns;
  return std::clamp(in_rounds_ns - confirmed_ns, 0.0, in_rounds_ns) / candidate_ns;
}

bool hangs_on_singles(const ShapeTiming& timing) {
  const double without = timing.budget.total() - timing.budget.overlap;
  return timing.comparison == Comparison::same && timing.budget.overlap > 0 &&
         compare(timing.speedup_interval, without) == Comparison::faster;
}

void count_savings(ShapeTiming& timing, const std::vector<SingleSaving>& savings) {
  timing.budget.overlap = unconfirmed_share(timing.candidate_ns, timing.incumbent_ns, savings);
  timing.comparison = compare(timing.speedup_interval, timing.budget.total());
}

}  // namespace kernelpro
