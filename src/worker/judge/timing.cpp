#include "worker/judge/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "common/base/secret.hpp"
#include "worker/judge/light.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/judge/timed_outputs.hpp"

namespace kernelpro {

namespace {

constexpr int screen_pairs = 2;
constexpr int screen_calls = 4;
constexpr double clearly_slower = 2.0;
constexpr int oracle_samples = 2;
constexpr int most_odd_pairs = 3;
constexpr int null_every = 3;
constexpr int null_at_start = 5;
constexpr int alone_rounds = 3;
constexpr int most_pairs = 40;
// Calls by themselves: on a processor, and on a device with a queue, whose stamps tell half a
// microsecond and where starting from an empty queue takes a few.
constexpr int single_pairs = 5;
constexpr double least_single_ns = 500e3;
constexpr double explained_overlap = 1.25;
constexpr int queued_single_pairs = 3;
constexpr double longest_start_ns = 5e3;
constexpr double stamp_ns = 500;
constexpr double explained_start = 1.005;
constexpr double drift_tolerance = 0.005;
// More of an incumbent's round spent waiting for a processor than when the task was opened means
// that other programs disturbed it: the candidate is stopped then.
constexpr double disturbed_share = 0.05;
constexpr double stolen_share = 0.03;
constexpr double busy_machine = 0.10;
constexpr double gross_lie = 0.30;
// After a disturbed pair, a moment that may be quieter is waited for.
constexpr std::int64_t first_pause_ms = 10;
constexpr std::int64_t longest_pause_ms = 160;
constexpr std::int64_t all_pauses_ms = 1000;

Error ours_failed(const Failure& failure, const std::string& whose) {
  return make_error(ErrorKind::lost, failure.summary, whose);
}

// The rounds of one comparison at one shape, gathered step by step.
class ShapeRun {
 public:
  ShapeRun(const TimingInputs& in, const TimedShape& shape, Rounds& rounds)
      : in_(in), shape_(shape), rounds_(rounds), outputs_(in, rounds, timeout_ms()) {
    timing_.calls = shape.rounds.calls;
    timing_.flushed = shape.rounds.flush;
    timing_.warm = shape.rounds.warm;
    timing_.noise_floor = shape.noise_floor;
    for (const AxisSpec& axis : in.task.axes) {
      if (!axis.derived) {
        timing_.shape[axis.name] = shape.axes.at(axis.name);
      }
    }
  }

  [[nodiscard]] Result<TimingOutcome> run() {
    KP_TRY(attach_arms());
    if (failure_) {
      return finish();
    }
    run_null(null_at_start);
    KP_TRY(screen());
    draw_odd_places();
    while (more_pairs() && !failure_ && !timing_.screened) {
      KP_TRY(run_odd_pairs());
      if (!failure_) {
        KP_TRY(run_pair());
      }
      if (!failure_) {
        KP_TRY(run_single_pair());
      }
    }
    if (!failure_) {
      summarize();
    }
    return finish();
  }

 private:
  [[nodiscard]] Key key(Purpose purpose, int index) const {
    return derive(in_.key, purpose, static_cast<std::uint64_t>(index));
  }

  // As many as were laid out when the task was opened; more where the interval is wider than what
  // it has to exceed, or where some rounds of the candidate are so slow that their average would
  // count: what chance did will be gone then. What the interval says does not decide, so going on
  // favors nobody.
  [[nodiscard]] bool more_pairs() const {
    const auto pairs = std::ssize(calls_);
    if (pairs < shape_.pairs || pairs >= most_pairs) {
      return pairs < shape_.pairs;
    }
    const ClockCheck clock = check_clock_of(Side::candidate);
    const std::vector<double> candidate = per_call(clock.believed_ns);
    const std::vector<double> incumbent = per_call(check_clock_of(Side::incumbent).least_ns);
    const Interval interval =
        paired_ratio(candidate, incumbent, short_key(key(time_bootstrap_purpose, 0))).interval;
    return interval.high / interval.low - 1 > budget_of(clock).total() ||
           unevenness(settled(candidate), settled(incumbent)) > 1;
  }

  [[nodiscard]] ErrorBudget budget_of(const ClockCheck& clock) const {
    return {shape_.noise_floor, clock.tolerance, drift_tolerance, clock.empty};
  }

  [[nodiscard]] std::int64_t timeout_ms() const {
    constexpr double patience = 20;
    const double round_ms = shape_.rounds.calls * shape_.rounds.baseline_ns / 1e6;
    return std::max(in_.settings.call_timeout_ms, static_cast<std::int64_t>(patience * round_ms));
  }

  [[nodiscard]] Status attach_arms() {
    const ShapeBuffers& buffers = rounds_.buffers();
    failure_ = in_.candidate.attach(buffers.plan(), *buffers.memory, Side::candidate, timeout_ms());
    if (failure_) {
      return {};
    }
    for (const auto& [ours, name] :
         {std::pair{&in_.incumbent, "the incumbent"}, {&in_.null, "the empty candidate"}}) {
      if (auto failure =
              ours->attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms())) {
        return ours_failed(*failure, name);
      }
    }
    return {};
  }

  void run_null(int count) {
    for (int i = 0; i < count; ++i) {
      const Round round = rounds_.run_empty(in_.null, key(time_null_purpose, nulls_++),
                                            shape_.rounds.calls, timeout_ms());
      if (!round.failure) {
        null_rounds_.push_back(round);
      }
    }
  }

  // Runs one pair; nothing when it ended in the candidate's failure.
  [[nodiscard]] Result<std::optional<Pair>> one_pair(const Key& pair_key, int index, int calls,
                                                     bool odd = false) {
    const Side first = index % 2 == 0 ? Side::candidate : Side::incumbent;
    Pair pair = rounds_.run({&in_.candidate, &in_.incumbent}, first, pair_key, calls,
                            outputs_.agreement(), timeout_ms(), odd);
    KP_TRY(rounds_.buffers().memory->health());
    if (const auto& failure = pair.of(Side::incumbent).failure) {
      return ours_failed(*failure, "the incumbent");
    }
    if (const auto& failure = pair.of(Side::candidate).failure) {
      failure_ = failure;
      return std::optional<Pair>();
    }
    for (const int set : pair.disagreeing) {
      KP_TRY(ask_oracle({pair_key, pair.called, odd, false}, set));
      if (failure_) {
        return std::optional<Pair>();
      }
    }
    return std::optional<Pair>(std::move(pair));
  }

  // Who is right on that set? Sets failure_ when it is not the candidate. Only what we look at by
  // ourselves unsettles the next pair: a candidate can make doubts where it likes.
  [[nodiscard]] Status ask_oracle(const TimedPair& pair, int set) {
    KP_LET(failure_, outputs_.judge(pair, set));
    unsettled_ = unsettled_ || pair.sampled;
    return {};
  }

  // Two pairs of short rounds; clearly slower in both ends the timing there. Where rounds are
  // hardly longer, these two are whole, and the first of the comparison.
  [[nodiscard]] Status screen() {
    const bool whole = shape_.rounds.calls <= 2 * screen_calls;
    const int calls = whole ? shape_.rounds.calls : screen_calls;
    int slower = 0;
    for (int i = 0; i < screen_pairs; ++i) {
      KP_LET(std::optional<Pair> pair, one_pair(key(screen_purpose, i), i, calls));
      if (!pair) {
        return {};
      }
      // What it waited for a busy machine is not its own slowness, and PyTorch's clock knows
      // nothing of handing over.
      const Round& own = pair->of(Side::candidate);
      const double own_ns = in_.incumbent.trusted() ? own.claim_ns : own.wall_ns - own.delay_ns;
      slower += own_ns > clearly_slower * pair->of(Side::incumbent).wall_ns ? 1 : 0;
      screened_.push_back(*pair);
    }
    timing_.screened = slower == screen_pairs;
    if (timing_.screened || whole) {
      for (const Pair& pair : screened_) {
        record(pair);
      }
    }
    return {};
  }

  // Behind which recorded pairs those of other distributions come: secret, so that none of them can
  // be told from a pair that counts.
  void draw_odd_places() {
    constexpr int distributions = static_cast<int>(std::size(all_distributions)) - 1;
    const int wanted = in_.task.reference.torch
                           ? 1
                           : std::clamp(distributions / shape_.rounds.calls, 1, most_odd_pairs);
    KeyedRandom random(key(time_odd_place_purpose, 0));
    for (int i = 0; i < wanted; ++i) {
      odd_places_.push_back(static_cast<std::ptrdiff_t>(
          random.below(static_cast<std::uint64_t>(std::max(shape_.pairs - 1, 1)))));
    }
    std::sort(odd_places_.begin(), odd_places_.end());
  }

  // Their outputs count, their times do not: those of tiny or constant values are others.
  [[nodiscard]] Status run_odd_pairs() {
    while (odd_ < std::ssize(odd_places_) &&
           odd_places_[static_cast<std::size_t>(odd_)] <= std::ssize(calls_)) {
      const Key pair_key = key(time_odd_purpose, odd_);
      KP_LET(std::optional<Pair> pair, one_pair(pair_key, odd_++, shape_.rounds.calls, true));
      if (!pair) {
        return {};
      }
      KeyedRandom random(derive(pair_key, time_sample_purpose));
      const std::vector<std::uint16_t>& called = pair->called;
      KP_TRY(ask_oracle({pair_key, called, true, true}, called[random.below(called.size())]));
      if (failure_) {
        return {};
      }
    }
    return {};
  }

  [[nodiscard]] Status run_pair() {
    const int index = timed_++;
    const Key pair_key = key(time_pair_purpose, index);
    if (index % null_every == 0) {
      run_null(1);
    }
    KP_LET(std::optional<Pair> pair, one_pair(pair_key, index, shape_.rounds.calls));
    if (!pair) {
      return {};
    }
    if (disturbed(*pair) && timing_.dropped_pairs < shape_.pairs) {
      ++timing_.dropped_pairs;
      wait_for_quiet();
      return {};
    }
    record(*pair);
    // A secret sample of the calls is held against the oracle too.
    KeyedRandom random(key(time_sample_purpose, index));
    const int stride = std::max(1, shape_.pairs / oracle_samples);
    const std::vector<std::uint16_t>& called = pair->called;
    if (index % stride == 0) {
      return ask_oracle({pair_key, called, false, true}, called[random.below(called.size())]);
    }
    return {};
  }

  // Pairs of one call each: there is no other call to work on meanwhile. On a processor only where
  // a call is long enough to be timed by itself.
  [[nodiscard]] Status run_single_pair() {
    const int index = static_cast<int>(std::ssize(singles_));
    if (shape_.rounds.calls < 2 || index >= wanted_singles() ||
        (!in_.ground.enqueues() && shape_.rounds.baseline_ns < least_single_ns)) {
      return {};
    }
    KP_LET(std::optional<Pair> pair, one_pair(key(time_single_purpose, index), index, 1));
    if (pair) {
      singles_.push_back(std::move(*pair));
    }
    return {};
  }

  [[nodiscard]] int wanted_singles() const {
    return in_.ground.enqueues() ? queued_single_pairs : single_pairs;
  }

  // How much longer a call of the candidate takes by itself than in a round, beyond what the
  // incumbent's does: calls that overlap look faster than any of them is. 1 where that is within
  // what caches, sleeping threads and empty queues explain.
  [[nodiscard]] double overlap() const {
    if (std::ssize(singles_) < wanted_singles()) {
      return 1;
    }
    return in_.ground.enqueues() ? overlap_in_queue() : overlap_of_threads();
  }

  [[nodiscard]] std::vector<Round> singles_of(Side side) const {
    std::vector<Round> rounds;
    rounds.reserve(singles_.size());
    for (const Pair& pair : singles_) {
      rounds.push_back(pair.of(side));
    }
    return rounds;
  }

  [[nodiscard]] double overlap_of_threads() const {
    if (timing_.candidate_ns < least_single_ns) {
      return 1;
    }
    // At its best: other programs lengthen a call by itself, and nothing shortens it.
    const auto alone = [this](Side side, auto times) {
      const ClockCheck clock = check_clock_of(singles_of(side));
      return *std::min_element((clock.*times).begin(), (clock.*times).end());
    };
    const double candidate = alone(Side::candidate, &ClockCheck::believed_ns);
    const double incumbent = alone(Side::incumbent, &ClockCheck::least_ns);
    const double longer =
        candidate / timing_.candidate_ns / std::max(incumbent / timing_.incumbent_ns, 1.0);
    return longer > explained_overlap ? longer : 1;
  }

  // A call by itself starts from an empty queue, and its end is seen: both arms pay that, the
  // incumbent for a few microseconds at most. The claim counts where the hand-over's doubt, larger
  // than most such calls, lets it.
  [[nodiscard]] double overlap_in_queue() const {
    const double null_ns =
        summarize_null(shape_.empty_rounds, in_.ground.hand_over_doubt_ns()).median_ns;
    const auto alone = [&](Side side) {
      std::vector<double> times_ns;
      for (const Round& round : singles_of(side)) {
        const double ours_ns = round.trusted ? 0 : round.wall_ns - null_ns;
        times_ns.push_back(std::max(round.claim_ns, ours_ns - in_.ground.hand_over_doubt_ns()));
      }
      return median(times_ns);
    };
    const double start_ns =
        std::clamp(alone(Side::incumbent) - timing_.incumbent_ns, 0.0, longest_start_ns);
    const double longer =
        (alone(Side::candidate) - start_ns - stamp_ns) / std::max(timing_.candidate_ns, 1.0);
    return longer > explained_start ? longer : 1;
  }

  [[nodiscard]] std::vector<double> settled(const std::vector<double>& rounds) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      if (settled_[i]) {
        out.push_back(rounds[i]);
      }
    }
    return out;
  }

  void count_longer(double factor, const std::string& why) {
    for (double& ns : timing_.candidate_rounds) {
      ns *= factor;
    }
    timing_.candidate_ns *= factor;
    longer_ *= factor;
    remarks_.push_back(fmt::format(fmt::runtime(why), 100 * (factor - 1)));
  }

  // By other programs, as the kernel counts it; nothing that a candidate does can bring it about.
  [[nodiscard]] bool disturbed(const Pair& pair) const {
    const Round& incumbent = pair.of(Side::incumbent);
    const double waited = incumbent.wall_ns > 0 ? incumbent.busy_ns / incumbent.wall_ns : 0;
    const double processors = std::max(1U, std::thread::hardware_concurrency());
    const double stolen = pair.wall_ns > 0 ? pair.stolen_ns / (processors * pair.wall_ns) : 0;
    return waited > disturbed_share + shape_.waiting || stolen > stolen_share;
  }

  void wait_for_quiet() {
    if (paused_ms_ >= all_pauses_ms) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms_));
    paused_ms_ += pause_ms_;
    pause_ms_ = std::min(2 * pause_ms_, longest_pause_ms);
  }

  void record(const Pair& pair) {
    calls_.push_back(static_cast<double>(pair.called.size()));
    settled_.push_back(!unsettled_);
    unsettled_ = false;
    for (const Side side : both_sides) {
      arm_rounds_[index_of(side)].push_back(pair.of(side));
    }
  }

  [[nodiscard]] ClockCheck check_clock_of(Side side) const {
    return check_clock_of(arm_rounds_[index_of(side)]);
  }

  [[nodiscard]] ClockCheck check_clock_of(const std::vector<Round>& rounds) const {
    const double doubt_ns = in_.ground.hand_over_doubt_ns();
    return check_clock(rounds, summarize_null(null_rounds_, doubt_ns),
                       summarize_null(shape_.empty_rounds, doubt_ns));
  }

  // Mean nanoseconds per call of each round.
  [[nodiscard]] std::vector<double> per_call(const std::vector<double>& rounds_ns) const {
    std::vector<double> out(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      out[i] = rounds_ns[i] / calls_[i];
    }
    return out;
  }

  void summarize() {
    const std::uint64_t bootstrap = short_key(key(time_bootstrap_purpose, 0));
    const ClockCheck clock = check_clock_of(Side::candidate);
    const ClockCheck incumbent_clock = check_clock_of(Side::incumbent);
    timing_.candidate_rounds = per_call(clock.believed_ns);
    timing_.incumbent_rounds = per_call(incumbent_clock.least_ns);
    timing_.candidate_ns = median(timing_.candidate_rounds);
    timing_.incumbent_ns = median(timing_.incumbent_rounds);
    if (const double longer = overlap(); longer > 1) {
      count_longer(longer,
                   "a call of the candidate takes {:.0f} % longer by itself than beside others: "
                   "the time by itself counts");
    }
    if (const double longer =
            unevenness(settled(timing_.candidate_rounds), settled(timing_.incumbent_rounds));
        longer > 1) {
      count_longer(longer,
                   "some rounds of the candidate take far longer than the others, {:.0f} % on "
                   "average: the average counts");
    }
    timing_.candidate_interval = bootstrap_median(timing_.candidate_rounds, bootstrap);
    timing_.incumbent_interval = bootstrap_median(timing_.incumbent_rounds, bootstrap);
    const PairedRatio ratio =
        paired_ratio(timing_.candidate_rounds, timing_.incumbent_rounds, bootstrap);
    timing_.speedup = ratio.ratio;
    timing_.speedup_interval = ratio.interval;
    timing_.budget = budget_of(clock);
    timing_.comparison =
        timing_.screened ? Comparison::slower : compare(ratio.interval, timing_.budget.total());
    if (timing_.comparison == Comparison::slower && !timing_.screened &&
        !slower_by_claims(clock, incumbent_clock)) {
      timing_.comparison = Comparison::same;
    }
    timing_.prepare_ns = in_.candidate.prepare_ns();
    // By the incumbent's rounds: a candidate's own threads may wait for each other. Short rounds
    // wait for a share of their time on an idle machine too.
    busy_ = incumbent_clock.waiting > busy_machine + shape_.waiting || timing_.dropped_pairs > 0;
    remark_busy(incumbent_clock.waiting);
    judge_clock(clock, busy_);
    if (!failure_) {
      judge_light();
    }
  }

  // What counts against a candidate in doubt is no proof that it is slower.
  [[nodiscard]] bool slower_by_claims(const ClockCheck& own, const ClockCheck& other) const {
    std::vector<double> candidate = per_call(own.least_ns);
    for (double& ns : candidate) {
      ns *= longer_;
    }
    const PairedRatio ratio = paired_ratio(candidate, per_call(other.least_ns),
                                           short_key(key(time_bootstrap_purpose, 0)));
    return compare(ratio.interval, timing_.budget.total()) == Comparison::slower;
  }

  void remark_busy(double waiting) {
    if (timing_.dropped_pairs > 0) {
      remarks_.push_back(fmt::format(
          "the machine was busy: {} of {} pairs were disturbed by other programs and repeated",
          timing_.dropped_pairs, timing_.dropped_pairs + std::ssize(calls_)));
    }
    if (waiting > busy_machine + shape_.waiting) {
      remarks_.push_back(
          fmt::format("the machine was busy: {:.0f} % of the incumbent's time went in waiting for "
                      "a processor",
                      100 * waiting));
    }
  }

  void judge_clock(const ClockCheck& clock, bool busy) {
    timing_.clock_gap = clock.gap;
    timing_.clock_noise = clock.noise;
    // A screen has few rounds, and on a busy machine time goes missing by itself: there only a
    // gross lie is proven. A lesser one gains nothing, because our clock counts then.
    const bool in_doubt = timing_.screened || busy;
    if (clock.proves_lie() && (!in_doubt || clock.gap > gross_lie)) {
      failure_ = Failure{
          Outcome::cheated,
          "clock",
          // The gap is a share of our clock already: what is missing is what is not claimed.
          fmt::format("it claims {:.1f} % less time than passed", 100 * clock.gap),
          {fmt::format(
              "by the worker's clock, {:.1f} % of the time is missing; noise explains {:.1f} %",
              100 * clock.gap, 100 * clock.noise)}};
    }
  }

  void judge_light() {
    const Roofline roof = roofline(in_.task, shape_.axes, in_.ceilings);
    timing_.bound_ns = roof.bound_ns;
    timing_.bound_by = roof.bound_by;
    timing_.share_of_bound = timing_.candidate_ns > 0 ? roof.bound_ns / timing_.candidate_ns : 0;
    const double floor = physical_floor_ns(in_.task, shape_.axes, shape_.rounds.calls,
                                           in_.ground.cache_bytes(), in_.ceilings);
    if (timing_.candidate_ns < light_margin * floor) {
      failure_ = Failure{
          Outcome::cheated,
          "bound",
          fmt::format("{:.0f} ns a call is faster than this machine can move the task's bytes",
                      timing_.candidate_ns),
          {fmt::format("the least possible is {:.0f} ns on measured bandwidth", floor)}};
    } else if (timing_.candidate_ns < floor) {
      suspicions_.emplace_back("within the noise of the memory bound");
    } else if (timing_.candidate_ns <
               light_margin * arithmetic_floor_ns(in_.task, shape_.axes, in_.ceilings)) {
      suspicions_.emplace_back(
          "faster than the declared operations allow: the task's formula or the algorithm differs");
    }
  }

  [[nodiscard]] TimingOutcome finish() {
    return {
        std::move(failure_), std::move(timing_), std::move(suspicions_), std::move(remarks_), busy_,
        outputs_.precision()};
  }

  const TimingInputs& in_;
  const TimedShape& shape_;
  Rounds& rounds_;
  TimedOutputs outputs_;
  ShapeTiming timing_;
  std::optional<Failure> failure_;
  std::vector<std::string> suspicions_;
  std::vector<std::string> remarks_;
  bool busy_ = false;
  double longer_ = 1;  // than its rounds say, by overlap and unevenness
  int timed_ = 0;      // pairs that were to be timed so far
  int odd_ = 0;        // pairs of other distributions so far
  int nulls_ = 0;
  std::vector<std::ptrdiff_t> odd_places_;  // rising
  std::int64_t pause_ms_ = first_pause_ms;
  std::int64_t paused_ms_ = 0;
  std::vector<Pair> screened_;
  std::vector<Pair> singles_;
  std::vector<Round> null_rounds_;
  std::vector<double> calls_;  // of each recorded pair
  // Whether nothing else of ours ran just before it: on a GPU the first round behind another
  // process's work takes up to a third longer.
  std::vector<bool> settled_;
  bool unsettled_ = true;
  std::array<std::vector<Round>, 2> arm_rounds_;
};

}  // namespace

Result<double> time_alone(Arm& incumbent, const TimedShape& shape, Rounds& rounds, const Key& key,
                          std::int64_t timeout_ms) {
  const ShapeBuffers& buffers = rounds.buffers();
  if (const auto failure =
          incumbent.attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms)) {
    return ours_failed(*failure, "the incumbent");
  }
  std::vector<double> calls_ns;
  for (int i = 0; i < alone_rounds; ++i) {
    // It is not on trial: values that it has seen before do.
    const Round round = rounds.run_alone(incumbent, key, shape.rounds.calls, timeout_ms, i == 0);
    if (round.failure) {
      return ours_failed(*round.failure, "the incumbent");
    }
    calls_ns.push_back(round.claim_ns / shape.rounds.calls);
  }
  KP_TRY(buffers.memory->health());
  return median(calls_ns);
}

void count_incumbent_at_its_best(ShapeTiming& timing, double alone_ns) {
  timing.incumbent_alone_ns = alone_ns;
  if (alone_ns <= 0 || timing.screened ||
      timing.incumbent_ns <= alone_ns * (1 + timing.budget.drift)) {
    return;
  }
  const double share = alone_ns / timing.incumbent_ns;
  const Comparison in_pairs = timing.comparison;
  timing.at_least = true;
  timing.speedup *= share;
  timing.speedup_interval.low *= share;
  timing.speedup_interval.high *= share;
  timing.comparison = compare(timing.speedup_interval, timing.budget.total());
  // Against an incumbent at its best "slower" is not proven: in pairs it may have been as fast.
  if (timing.comparison == Comparison::slower && in_pairs != Comparison::slower) {
    timing.comparison = Comparison::same;
  }
}

Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape, Rounds& rounds) {
  rounds.redraw_scalars(derive(in.key, time_scalars_purpose));
  return ShapeRun(in, shape, rounds).run();
}

}  // namespace kernelpro
