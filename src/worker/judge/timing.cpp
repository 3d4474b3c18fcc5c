#include "worker/judge/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/random.hpp"
#include "worker/judge/light.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/reference.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

constexpr int screen_pairs = 2;
constexpr int screen_calls = 4;
constexpr double clearly_slower = 2.0;
constexpr int oracle_samples = 2;
constexpr int null_every = 3;
constexpr int null_at_start = 5;
constexpr double solo_drift = 0.10;
constexpr double clock_resolution = 0.02;
constexpr double null_spreads = 3;  // what counts as noise, in spreads of the empty rounds
constexpr double busy_machine = 0.10;
constexpr double gross_lie = 0.30;

// The rounds of one comparison at one shape, gathered step by step.
class ShapeRun {
 public:
  ShapeRun(const TimingInputs& in, const TimedShape& shape, Rounds& rounds)
      : in_(in), shape_(shape), rounds_(rounds) {
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
    for (int i = static_cast<int>(calls_.size());
         i < shape_.pairs && !failure_ && !timing_.screened; ++i) {
      KP_TRY(run_pair(i));
      if (i % null_every == 0) {
        run_null(1);
      }
    }
    if (!failure_) {
      summarize();
    }
    return finish();
  }

 private:
  [[nodiscard]] std::uint64_t seed(Purpose purpose, int index) const {
    return counter_hash(counter_hash(in_.seed, purpose), static_cast<std::uint64_t>(index));
  }

  [[nodiscard]] std::int64_t timeout_ms() const {
    constexpr double patience = 20;
    const double round_ms = shape_.rounds.calls * shape_.rounds.baseline_ns / 1e6;
    return std::max(in_.settings.call_timeout_ms, static_cast<std::int64_t>(patience * round_ms));
  }

  [[nodiscard]] Status attach_arms() {
    const Stand& stand = rounds_.stand();
    failure_ = in_.candidate.attach(stand.plan(), *stand.memory, timeout_ms());
    if (failure_) {
      return {};
    }
    for (Arm* ours : {&in_.incumbent, &in_.null}) {
      if (auto failure = ours->attach(stand.plan(), *stand.memory, timeout_ms())) {
        return ours_failed(*failure);
      }
    }
    return {};
  }

  static Error ours_failed(const Failure& failure) {
    return make_error(ErrorKind::lost, failure.summary, "the incumbent");
  }

  void run_null(int count) {
    for (int i = 0; i < count; ++i) {
      const Round round = rounds_.run_alone(in_.null, seed(time_pair_purpose, -1 - i),
                                            shape_.rounds.calls, timeout_ms());
      if (!round.failure) {
        null_rounds_.push_back(round);
      }
    }
  }

  // Runs one pair; false when it ended in the candidate's failure.
  [[nodiscard]] Result<std::optional<Pair>> one_pair(std::uint64_t pair_seed, int first,
                                                     int calls) {
    const std::array<Arm*, 2> arms = {&in_.candidate, &in_.incumbent};
    Pair pair = rounds_.run(arms, first, pair_seed, calls, in_.bounds, timeout_ms());
    KP_TRY(rounds_.stand().memory->health());
    if (pair.rounds[incumbent_arm].failure) {
      return ours_failed(*pair.rounds[incumbent_arm].failure);
    }
    if (pair.rounds[candidate_arm].failure) {
      failure_ = pair.rounds[candidate_arm].failure;
      return std::optional<Pair>();
    }
    for (const int set : pair.disagreeing) {
      KP_TRY(ask_oracle(pair_seed, set));
      if (failure_) {
        return std::optional<Pair>();
      }
    }
    return std::optional<Pair>(std::move(pair));
  }

  // Who is right on that set? Sets failure_ when it is not the candidate.
  [[nodiscard]] Status ask_oracle(std::uint64_t pair_seed, int set) {
    const InputDraw draw = rounds_.draw(pair_seed, set);
    const BufferPlan& plan = rounds_.stand().plan();
    SetMemory& memory = *rounds_.stand().memory;
    if (in_.task.reference.baseline || !oracle_affordable(in_.task, in_.ground, shape_.axes)) {
      return ask_incumbent(draw, memory.errors_to(rounds_.outputs(incumbent_arm), set));
    }
    const Result<std::unique_ptr<Truth>> truth = memory.truth(in_.oracle, draw, set);
    if (!truth) {
      return truth.error();
    }
    if (!*truth) {
      return ask_incumbent(draw, memory.errors_to(rounds_.outputs(incumbent_arm), set));
    }
    const auto judge = [&](int arm) {
      return judge_errors(in_.task, plan, (*truth)->errors(set, rounds_.outputs(arm)), in_.bounds,
                          in_.allowed_precisions);
    };
    ToleranceResult candidate = judge(candidate_arm);
    if (!candidate.passed) {
      failure_ = std::move(candidate.failure);
      failure_->evidence.push_back(fmt::format("in a timed round at {}, seed {:#x}",
                                               shape_text(in_.task, shape_.axes), draw.seed));
      return {};
    }
    if (!judge(incumbent_arm).passed) {
      return make_error(ErrorKind::lost, "it gave a wrong result in a timed round",
                        "the incumbent");
    }
    return {};
  }

  // Where the reference is too slow to be asked, the incumbent, which passed before, is right.
  [[nodiscard]] Status ask_incumbent(const InputDraw& draw,
                                     const std::vector<TensorError>& errors) {
    ToleranceResult result =
        judge_errors(in_.task, rounds_.stand().plan(), errors, in_.bounds, in_.allowed_precisions);
    if (!result.passed) {
      failure_ = std::move(result.failure);
      failure_->evidence.push_back(
          fmt::format("against the incumbent's outputs, in a timed round at {}, seed {:#x}",
                      shape_text(in_.task, shape_.axes), draw.seed));
    }
    return {};
  }

  // Two pairs of short rounds; clearly slower in both ends the timing there. Where rounds are short
  // anyway, these two are the first of the comparison.
  [[nodiscard]] Status screen() {
    int slower = 0;
    for (int i = 0; i < screen_pairs; ++i) {
      Result<std::optional<Pair>> pair = one_pair(seed(screen_purpose, i), i % 2, screen_calls);
      if (!pair) {
        return pair.error();
      }
      if (!*pair) {
        return {};
      }
      const auto& rounds = (*pair)->rounds;
      // What it waited for a busy machine is not its own slowness, and PyTorch's clock knows
      // nothing of handing over.
      const Round& own = rounds[candidate_arm];
      const double own_ns = in_.incumbent.trusted() ? own.claim_ns : own.wall_ns - own.delay_ns;
      slower += own_ns > clearly_slower * rounds[incumbent_arm].wall_ns ? 1 : 0;
      screened_.push_back(**pair);
    }
    timing_.screened = slower == screen_pairs;
    if (timing_.screened || shape_.rounds.calls <= screen_calls) {
      for (const Pair& pair : screened_) {
        record(pair);
      }
    }
    return {};
  }

  [[nodiscard]] Status run_pair(int index) {
    const std::uint64_t pair_seed = seed(time_pair_purpose, index);
    Result<std::optional<Pair>> pair = one_pair(pair_seed, index % 2, shape_.rounds.calls);
    if (!pair) {
      return pair.error();
    }
    if (!*pair) {
      return {};
    }
    record(**pair);
    // A secret sample of the calls is held against the oracle too.
    Random random(seed(time_sample_purpose, index));
    const int stride = std::max(1, shape_.pairs / oracle_samples);
    if (index % stride == 0) {
      return ask_oracle(pair_seed, (*pair)->called[random.below((*pair)->called.size())]);
    }
    return {};
  }

  void record(const Pair& pair) {
    calls_.push_back(static_cast<double>(pair.called.size()));
    for (std::size_t arm = 0; arm < pair.rounds.size(); ++arm) {
      arm_rounds_[arm].push_back(pair.rounds[arm]);
    }
  }

  // Mean nanoseconds per call of each round of an arm, as far as they are believed.
  [[nodiscard]] std::vector<double> rounds_of(int arm, ClockCheck& clock) const {
    clock = check_clock(arm_rounds_[static_cast<std::size_t>(arm)],
                        summarize_null(null_rounds_, in_.ground.hand_over_doubt_ns()));
    std::vector<double> out(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      out[i] = clock.believed_ns[i] / calls_[i];
    }
    return out;
  }

  void summarize() {
    const std::uint64_t bootstrap = seed(time_bootstrap_purpose, 0);
    ClockCheck clock;
    ClockCheck incumbent_clock;
    timing_.candidate_rounds = rounds_of(candidate_arm, clock);
    timing_.incumbent_rounds = rounds_of(incumbent_arm, incumbent_clock);
    timing_.candidate_ns = median(timing_.candidate_rounds);
    timing_.incumbent_ns = median(timing_.incumbent_rounds);
    timing_.candidate_interval = bootstrap_median(timing_.candidate_rounds, bootstrap);
    timing_.incumbent_interval = bootstrap_median(timing_.incumbent_rounds, bootstrap);
    const PairedRatio ratio =
        paired_ratio(timing_.candidate_rounds, timing_.incumbent_rounds, bootstrap);
    timing_.speedup = ratio.ratio;
    timing_.speedup_interval = ratio.interval;
    timing_.comparison =
        timing_.screened ? Comparison::slower : compare(ratio.interval, timing_.noise_floor);
    timing_.prepare_ns = in_.candidate.prepare_ns();
    // By the incumbent's rounds: a candidate's own threads may wait for each other. Short rounds
    // wait for a share of their time on an idle machine too.
    const bool busy = incumbent_clock.waiting > busy_machine + shape_.waiting;
    if (busy) {
      suspicions_.push_back(
          fmt::format("the machine was busy: {:.0f} % of the time went in waiting for a processor",
                      100 * incumbent_clock.waiting));
    }
    judge_clock(clock, busy);
    if (!failure_) {
      judge_light();
    }
    judge_incumbent();
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
          fmt::format("it claims {:.1f} % less time than passed",
                      100 * clock.gap / (1 + clock.gap)),
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

  // A live candidate must not have slowed the other arm.
  void judge_incumbent() {
    if (!in_.incumbent_is_baseline || shape_.solo_ns <= 0) {
      return;
    }
    const double drift = timing_.incumbent_ns / shape_.solo_ns - 1;
    if (drift > solo_drift + shape_.noise_floor) {
      suspicions_.push_back(
          fmt::format("the baseline ran {:.0f} % slower than alone", 100 * drift));
    }
  }

  [[nodiscard]] TimingOutcome finish() {
    return {std::move(failure_), std::move(timing_), std::move(suspicions_)};
  }

  const TimingInputs& in_;
  const TimedShape& shape_;
  Rounds& rounds_;
  ShapeTiming timing_;
  std::optional<Failure> failure_;
  std::vector<std::string> suspicions_;
  std::vector<Pair> screened_;
  std::vector<Round> null_rounds_;
  std::vector<double> calls_;  // of each recorded pair
  std::array<std::vector<Round>, 2> arm_rounds_;
};

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

double least_round_ns(const NullClock& null) {
  // A doubt is the same in all rounds, so it must weigh less than noise, which averages out.
  return std::max(null_spreads * null.spread_ns / clock_resolution,
                  null.doubt_ns / (clock_resolution / 2));
}

ClockCheck check_clock(const std::vector<Round>& rounds, const NullClock& null) {
  constexpr double lower_quartile = 0.25;
  ClockCheck check;
  std::vector<double> ours_ns;
  std::vector<double> gaps;
  std::vector<double> gaps_ns;
  double waited = 0;
  double total = 0;
  for (const Round& round : rounds) {
    ours_ns.push_back(std::max(round.wall_ns - null.median_ns, 1.0));
    const double delay_ns = std::max(round.delay_ns - null.delay_ns, 0.0);
    gaps_ns.push_back(ours_ns.back() - round.claim_ns - delay_ns);
    gaps.push_back(gaps_ns.back() / ours_ns.back());
    waited += round.busy_ns;
    total += round.wall_ns;
  }
  check.gap = quantile(gaps, lower_quartile);
  check.gap_ns = quantile(gaps_ns, lower_quartile);
  check.noise = std::max(clock_resolution, std::max(null_spreads * null.spread_ns, null.doubt_ns) /
                                               std::max(median(ours_ns), 1.0));
  check.waiting = total > 0 ? waited / total : 0;
  // However noisy the hand-over is, no more than this is taken on trust.
  const double believed = std::min(check.noise, ClockCheck::proof);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const double missing = 1 - rounds[i].claim_ns / ours_ns[i];
    check.believed_ns.push_back(missing > believed ? ours_ns[i] : rounds[i].claim_ns);
  }
  return check;
}

Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape, Rounds& rounds) {
  rounds.redraw_scalars(counter_hash(in.seed, time_scalars_purpose));
  return ShapeRun(in, shape, rounds).run();
}

}  // namespace kernelpro
