#include "worker/judge/round_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/secret.hpp"
#include "worker/judge/light.hpp"
#include "worker/judge/likely.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"

namespace kernelpro {

namespace {

// Calls by themselves: on a processor, and on a device with a queue. There stamps of several calls
// tell a fifth of a microsecond. Our clock shows 3.3 to 5.5 us on an H200 for having computed at
// all, one process one more or less than another.
constexpr int single_pairs = 5;
constexpr double explained_overlap = 1.25;
// What waking and stopping its threads may add to a call by itself.
double explained_single_ns(int threads) {
  return 100e3 + 12.5e3 * threads;
}
constexpr int queued_single_pairs = 15;
constexpr double longest_start_ns = 5e3;
constexpr double longest_gap_ns = 2e3;
constexpr double stamp_ns = 200;
constexpr double computed_least_ns = 4900;
constexpr double computed_most_ns = 20e3;
constexpr double gate_doubt_ns = 1e3;
constexpr double explained_start = 1.005;

constexpr double drift_tolerance = 0.005;
constexpr double busy_machine = 0.10;
constexpr double gross_lie = 0.30;

class Summary {
 public:
  Summary(const TimingInputs& in, const TimedShape& shape, const RoundLog& log)
      : in_(in),
        shape_(shape),
        log_(log),
        clock_(check(log.arms[index_of(Side::candidate)])),
        incumbent_clock_(check(log.arms[index_of(Side::incumbent)])),
        bootstrap_(short_key(derive(in.key, time_bootstrap_purpose, 0))) {}

  [[nodiscard]] Doubts doubts() const {
    const std::vector<double> candidate = per_call(clock_.believed_ns);
    const std::vector<double> incumbent = per_call(incumbent_clock_.least_ns);
    const Interval interval = paired_ratio(candidate, incumbent, bootstrap_).interval;
    return {interval.high / interval.low - 1 > budget().total(),
            unevenness(settled(candidate), settled(incumbent)) > 1};
  }

  void fill(TimingOutcome& out) {
    ShapeTiming& timing = out.timing;
    timing.candidate_rounds = per_call(clock_.believed_ns);
    timing.incumbent_rounds = per_call(incumbent_clock_.least_ns);
    timing.candidate_ns = median(timing.candidate_rounds);
    timing.incumbent_ns = median(timing.incumbent_rounds);
    count_longer(out, overlap(timing),
                 "a call of the candidate takes {:.0f} % longer by itself than beside others: "
                 "the time by itself counts");
    // Of few rounds one that was disturbed would be a large share; a claim has more of them.
    count_longer(
        out,
        in_.brief ? 1
                  : unevenness(settled(timing.candidate_rounds), settled(timing.incumbent_rounds)),
        "some rounds of the candidate take far longer than the others, {:.0f} % on "
        "average: the average counts");
    doubt_what_overlaps(out);
    compare_arms(timing);
    timing.prepare_ns = in_.candidate.prepare_ns();
    // By the incumbent's rounds: a candidate's own threads may wait for each other. Short rounds
    // wait for a share of their time on an idle machine too.
    const bool waited = incumbent_clock_.waiting > busy_machine + shape_.waiting;
    out.busy = waited || timing.dropped_pairs > 0;
    timing.likely = out.busy && !in_.ground.enqueues() ? without_others() : 0;
    remark_busy(out, waited);
    judge_clock(out);
    if (!out.failure) {
      judge_light(out);
    }
  }

 private:
  [[nodiscard]] ClockCheck check(const std::vector<Round>& rounds) const {
    const double doubt_ns = in_.ground.hand_over_doubt_ns();
    return check_clock(rounds, summarize_null(log_.nulls, doubt_ns),
                       summarize_null(shape_.empty_rounds, doubt_ns));
  }

  [[nodiscard]] ErrorBudget budget() const {
    // On a GPU the worker's clock has the last word on what a hand-over may hide.
    const double hand_over = in_.ground.enqueues() ? 0.0 : clock_.hand_over;
    return {shape_.noise_floor, clock_.tolerance, drift_tolerance, clock_.empty + hand_over,
            overlap_};
  }

  // Mean nanoseconds per call of each round.
  [[nodiscard]] std::vector<double> per_call(const std::vector<double>& rounds_ns) const {
    std::vector<double> out(log_.calls.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = rounds_ns[i] / log_.calls[i];
    }
    return out;
  }

  // All of them where too few are: who is asked about in every pair gains nothing by it.
  [[nodiscard]] std::vector<double> settled(const std::vector<double>& rounds) const {
    constexpr auto enough = 5;
    if (std::count(log_.settled.begin(), log_.settled.end(), true) < enough) {
      return rounds;
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      if (log_.settled[i]) {
        out.push_back(rounds[i]);
      }
    }
    return out;
  }

  // How much longer a call of the candidate takes by itself than in a round, beyond what the
  // incumbent's does: calls that overlap look faster than any of them is. 1 where that is within
  // what caches, sleeping threads and empty queues explain.
  [[nodiscard]] double overlap(const ShapeTiming& timing) const {
    if (log_.singles.empty() || std::ssize(log_.singles) < wanted_singles(in_, shape_)) {
      return 1;
    }
    return in_.ground.enqueues() ? overlap_in_queue(timing) : overlap_of_threads(timing);
  }

  [[nodiscard]] std::vector<Round> singles_of(Side side) const {
    std::vector<Round> rounds;
    rounds.reserve(log_.singles.size());
    for (const SinglePair& single : log_.singles) {
      rounds.push_back(single.pair.of(side));
    }
    return rounds;
  }

  [[nodiscard]] double overlap_of_threads(const ShapeTiming& timing) const {
    // At its best: other programs lengthen a call by itself, and nothing shortens it.
    const auto alone = [this](Side side, auto times) {
      const ClockCheck clock = check(singles_of(side));
      return *std::min_element((clock.*times).begin(), (clock.*times).end());
    };
    const double candidate = alone(Side::candidate, &ClockCheck::believed_ns);
    const double incumbent = alone(Side::incumbent, &ClockCheck::least_ns);
    const double longer =
        candidate / timing.candidate_ns / std::max(incumbent / timing.incumbent_ns, 1.0);
    return overlap_is_explained(longer, timing.candidate_ns, in_.settings.threads) ? 1 : longer;
  }

  // The median over single calls of what a clock shows on a side beyond the empty candidate's.
  [[nodiscard]] double single_ns(Side side, double Round::* clock) const {
    std::vector<double> more_ns;
    more_ns.reserve(log_.singles.size());
    for (const SinglePair& single : log_.singles) {
      more_ns.push_back(single.pair.of(side).*clock - single.empty.*clock);
    }
    return median(more_ns);
  }

  // Stamps and our clock, of which the larger counts. Behind a gate our clock is the device's;
  // there it shows some microseconds for having computed at all, as the incumbent's calls tell. Who
  // waits for the device inside a call is timed by the host's clock, all of which counts.
  [[nodiscard]] double overlap_in_queue(const ShapeTiming& timing) const {
    const Pair& first = log_.singles.front().pair;
    const bool gated = first.of(Side::candidate).gated;
    const bool alike = first.of(Side::incumbent).gated == gated;
    const double incumbent = single_ns(Side::incumbent, &Round::claim_ns);
    double ours = single_ns(Side::candidate, &Round::wall_ns);
    if (gated) {
      const double computed_ns =
          alike ? single_ns(Side::incumbent, &Round::wall_ns) - incumbent - gate_doubt_ns : 0;
      ours -= std::clamp(computed_ns, computed_least_ns, computed_most_ns);
    }
    const double candidate = std::max(single_ns(Side::candidate, &Round::claim_ns), ours);
    // What lies between calls in a round, or how much longer one takes from an empty queue.
    const double between_ns =
        alike ? std::clamp(timing.incumbent_ns - incumbent, -longest_start_ns, longest_gap_ns) : 0;
    const double longer = (candidate + between_ns - stamp_ns) / std::max(timing.candidate_ns, 1.0);
    return longer > explained_start ? longer : 1;
  }

  void count_longer(TimingOutcome& out, double factor, const char* why) {
    if (factor <= 1) {
      return;
    }
    for (double& ns : out.timing.candidate_rounds) {
      ns *= factor;
    }
    out.timing.candidate_ns *= factor;
    longer_ *= factor;
    out.remarks.push_back(fmt::format(fmt::runtime(why), 100 * (factor - 1)));
  }

  // On a processor the limits of overlap_of_threads() are the bound.
  void doubt_what_overlaps(TimingOutcome& out) {
    const int wanted = wanted_singles(in_, shape_);
    if (!in_.ground.enqueues() || in_.candidate.trusted() || wanted == 0 || out.timing.screened) {
      return;
    }
    if (std::ssize(log_.singles) >= wanted) {
      out.savings = {
          saving_of(log_.singles, out.timing.incumbent_ns, in_.incumbent.trusted(), bootstrap_)};
    }
    overlap_ = unconfirmed_share(out.timing.candidate_ns, out.timing.incumbent_ns, out.savings);
  }

  void compare_arms(ShapeTiming& timing) const {
    timing.candidate_interval = bootstrap_median(timing.candidate_rounds, bootstrap_);
    timing.incumbent_interval = bootstrap_median(timing.incumbent_rounds, bootstrap_);
    const PairedRatio ratio =
        paired_ratio(timing.candidate_rounds, timing.incumbent_rounds, bootstrap_);
    timing.speedup = ratio.ratio;
    timing.speedup_interval = ratio.interval;
    timing.budget = budget();
    timing.comparison =
        timing.screened ? Comparison::slower : compare(ratio.interval, timing.budget.total());
    if (timing.comparison == Comparison::slower && !timing.screened && !slower_by_claims()) {
      timing.comparison = Comparison::same;
    }
  }

  [[nodiscard]] double without_others() const {
    return likely_speedup({log_.arms[index_of(Side::candidate)], clock_.believed_ns},
                          {log_.arms[index_of(Side::incumbent)], incumbent_clock_.least_ns},
                          in_.settings.threads);
  }

  // What counts against a candidate in doubt is no proof that it is slower.
  [[nodiscard]] bool slower_by_claims() const {
    std::vector<double> candidate = per_call(clock_.least_ns);
    for (double& ns : candidate) {
      ns *= longer_;
    }
    const PairedRatio ratio =
        paired_ratio(candidate, per_call(incumbent_clock_.least_ns), bootstrap_);
    return compare(ratio.interval, budget().total()) == Comparison::slower;
  }

  void remark_busy(TimingOutcome& out, bool waited) const {
    const int dropped = out.timing.dropped_pairs;
    if (dropped > 0) {
      out.remarks.push_back(fmt::format(
          "the machine was busy: {} of {} pairs were disturbed by other programs and repeated",
          dropped, dropped + std::ssize(log_.calls)));
    }
    if (waited) {
      out.remarks.push_back(
          fmt::format("the machine was busy: {:.0f} % of the incumbent's time went in waiting for "
                      "a processor",
                      100 * incumbent_clock_.waiting));
    }
  }

  void judge_clock(TimingOutcome& out) const {
    out.timing.clock_gap = clock_.gap;
    out.timing.clock_noise = clock_.noise;
    // A screen has few rounds, and on a busy machine time goes missing by itself: there only a
    // gross lie is proven. A lesser one gains nothing, because our clock counts then.
    const bool in_doubt = out.timing.screened || out.busy;
    if (clock_.proves_lie() && (!in_doubt || clock_.gap > gross_lie)) {
      out.failure = Failure{
          Outcome::cheated,
          "clock",
          // The gap is a share of our clock already: what is missing is what is not claimed.
          fmt::format("it claims {:.1f} % less time than passed", 100 * clock_.gap),
          {fmt::format(
              "by the worker's clock, {:.1f} % of the time is missing; noise explains {:.1f} %",
              100 * clock_.gap, 100 * clock_.noise)}};
    }
  }

  void judge_light(TimingOutcome& out) const {
    ShapeTiming& timing = out.timing;
    const Roofline roof = roofline(in_.task, shape_.axes, in_.ceilings);
    timing.bound_ns = roof.bound_ns;
    timing.bound_by = roof.bound_by;
    timing.share_of_bound = timing.candidate_ns > 0 ? roof.bound_ns / timing.candidate_ns : 0;
    const double floor = physical_floor_ns(in_.task, shape_.axes, shape_.rounds.calls,
                                           in_.ground.cache_bytes(), in_.ceilings);
    if (timing.candidate_ns < light_margin * floor) {
      out.failure = Failure{
          Outcome::cheated,
          "bound",
          fmt::format("{:.0f} ns a call is faster than this machine can move the task's bytes",
                      timing.candidate_ns),
          {fmt::format("the least possible is {:.0f} ns on measured bandwidth", floor)}};
    } else if (timing.candidate_ns < floor) {
      out.suspicions.emplace_back("within the noise of the memory bound");
    } else if (timing.candidate_ns <
               light_margin * arithmetic_floor_ns(in_.task, shape_.axes, in_.ceilings)) {
      out.suspicions.emplace_back(
          "faster than the declared operations allow: the task's formula or the algorithm differs");
    }
  }

  const TimingInputs& in_;
  const TimedShape& shape_;
  const RoundLog& log_;
  ClockCheck clock_;
  ClockCheck incumbent_clock_;
  std::uint64_t bootstrap_;
  double longer_ = 1;   // than its rounds say, by overlap and unevenness
  double overlap_ = 0;  // the share that is saved in rounds and not by calls by themselves
};

}  // namespace

void RoundLog::record(const Pair& pair) {
  calls.push_back(static_cast<double>(pair.called.size()));
  settled.push_back(pair.settled);
  for (const Side side : both_sides) {
    arms[index_of(side)].push_back(pair.of(side));
  }
}

bool turns_come_late(const RoundLog& log) {
  constexpr double longest_turn_ns = 50e3;
  std::vector<double> missing_ns;
  for (const SinglePair& single : log.singles) {
    const Round& round = single.pair.of(Side::candidate);
    const double passed_ns = round.wall_ns - single.empty.wall_ns;
    missing_ns.push_back(round.gated ? passed_ns - (round.claim_ns - single.empty.claim_ns) : 0);
  }
  return median(missing_ns) > longest_turn_ns;
}

bool overlap_is_explained(double longer, double call_ns, int threads) {
  return longer <= explained_overlap || (longer - 1) * call_ns <= explained_single_ns(threads);
}

int wanted_singles(const TimingInputs& in, const TimedShape& shape) {
  if (shape.rounds.calls < 2) {
    return 0;
  }
  if (in.ground.enqueues()) {
    return queued_single_pairs;
  }
  return shape.rounds.baseline_ns < explained_single_ns(in.settings.threads) ? 0 : single_pairs;
}

Doubts doubts_of(const TimingInputs& in, const TimedShape& shape, const RoundLog& log) {
  return Summary(in, shape, log).doubts();
}

void summarize(const TimingInputs& in, const TimedShape& shape, const RoundLog& log,
               TimingOutcome& out) {
  Summary(in, shape, log).fill(out);
}

}  // namespace kernelpro
