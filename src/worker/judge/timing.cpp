#include "worker/judge/timing.hpp"

#include <algorithm>
#include <thread>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"
#include "worker/judge/likely.hpp"
#include "worker/judge/odd_pairs.hpp"
#include "worker/judge/pauses.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/round_log.hpp"
#include "worker/judge/timed_outputs.hpp"

namespace kernelpro {

namespace {

constexpr int screen_pairs = 2;
constexpr int screen_calls = 4;
constexpr double clearly_slower = 2.0;
constexpr double longest_hand_over_ns = 20e6;
constexpr int null_every = 3;
constexpr int null_at_start = 5;
constexpr int most_pairs = 40;
// A wide interval gets more pairs for so many times as long as was aimed at, drawing and comparing
// included: where memory is slow, 40 would take that of ten evaluations.
constexpr double most_times_longer = 6;
// More of an incumbent's round spent waiting for a processor than when the task was opened means
// that other programs disturbed it: the candidate is stopped then.
constexpr double disturbed_share = 0.05;
constexpr double stolen_share = 0.03;

// The rounds of one comparison at one shape, gathered step by step.
class ShapeRun {
 public:
  ShapeRun(const TimingInputs& in, const TimedShape& shape, Rounds& rounds)
      : in_(in), shape_(shape), rounds_(rounds), outputs_(in, rounds, timeout_ms()) {
    ShapeTiming& timing = out_.timing;
    timing.calls = shape.rounds.calls;
    timing.flushed = shape.rounds.flush;
    timing.warm = shape.rounds.warm;
    timing.noise_floor = shape.noise_floor;
    for (const AxisSpec& axis : in.task.axes) {
      if (!axis.derived) {
        timing.shape[axis.name] = shape.axes.at(axis.name);
      }
    }
  }

  [[nodiscard]] Result<TimingOutcome> run() {
    KP_TRY(attach_arms());
    if (out_.failure) {
      return finish();
    }
    KP_TRY(run_null(null_at_start));
    KP_TRY(in_.screen ? screen() : Status());
    while (more_pairs() && !out_.failure && !out_.timing.screened) {
      KP_TRY(run_odd_pairs());
      if (!out_.failure) {
        KP_TRY(run_pair());
      }
      KP_TRY(run_singles(std::ssize(log_.calls)));
    }
    if (!out_.timing.screened) {
      KP_TRY(run_singles(shape_.pairs));
    }
    if (!out_.failure) {
      summarize(in_, shape_, log_, out_);
    }
    return finish();
  }

  // Calls by themselves and nothing else, on values of their own for each draw.
  [[nodiscard]] Result<TimingOutcome> run_singles_alone(double incumbent_ns, int draw) {
    constexpr int most_singles = 1000;
    first_single_ = draw * most_singles;
    KP_TRY(attach_arms());
    KP_TRY(run_singles(shape_.pairs));
    if (!out_.failure && std::ssize(log_.singles) >= wanted_singles(in_, shape_)) {
      out_.savings = {saving_of(log_.singles, incumbent_ns, in_.incumbent.trusted(),
                                short_key(key(time_bootstrap_purpose, draw)))};
    }
    return finish();
  }

 private:
  [[nodiscard]] Key key(Purpose purpose, int index) const {
    return derive(in_.key, purpose, static_cast<std::uint64_t>(index));
  }

  // As many as were laid out when the task was opened, and more where there is doubt.
  [[nodiscard]] bool more_pairs() const {
    const auto pairs = std::ssize(log_.calls);
    if (pairs < shape_.pairs || pairs >= most_pairs || in_.brief) {
      return pairs < shape_.pairs;
    }
    const Doubts doubts = doubts_of(in_, shape_, log_);
    return doubts.uneven || (doubts.wide && now_ns() < widest_until_ns_);
  }

  [[nodiscard]] std::int64_t timeout_ms() const {
    // Whom no screen holds back may be as slow as a single call may.
    const double patience = in_.screen ? 20 : 100;
    const double round_ms = shape_.rounds.calls * shape_.rounds.baseline_ns / 1e6;
    return std::max(in_.settings.call_timeout_ms, static_cast<std::int64_t>(patience * round_ms));
  }

  [[nodiscard]] Status attach_arms() {
    const ShapeBuffers& buffers = rounds_.buffers();
    out_.failure =
        in_.candidate.attach(buffers.plan(), *buffers.memory, Side::candidate, timeout_ms());
    if (out_.failure) {
      return {};
    }
    for (const auto& [ours, name] : {std::pair{&in_.incumbent, "the incumbent"},
                                     {in_.baseline, "the baseline"},
                                     {&in_.null, "the empty candidate"}}) {
      if (ours == nullptr) {
        continue;
      }
      // Whatever another candidate made them late for.
      ours->allow_gates();
      if (auto failure =
              ours->attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms())) {
        return ours_failed(*failure, name);
      }
    }
    return {};
  }

  [[nodiscard]] Status run_null(int count) {
    for (int i = 0; i < count; ++i) {
      const Round round = rounds_.run_empty(in_.null, key(time_null_purpose, nulls_++),
                                            shape_.rounds.calls, timeout_ms());
      if (round.failure && round.failure->outcome == Outcome::timed_out) {
        return ours_failed(*round.failure, "the empty candidate");
      }
      if (!round.failure) {
        log_.nulls.push_back(round);
      }
    }
    return {};
  }

  // Runs one pair; nothing when it ended in the candidate's failure.
  [[nodiscard]] Result<std::optional<Pair>> one_pair(const Key& pair_key, int index, int calls,
                                                     bool odd = false) {
    const Side first = index % 2 == 0 ? Side::candidate : Side::incumbent;
    const bool settled = !std::exchange(unsettled_, false);
    Pair pair = rounds_.run({&in_.candidate, &in_.incumbent}, first, pair_key, calls,
                            outputs_.agreement(), timeout_ms(), odd);
    pair.settled = settled;
    in_.candidate.allow_for(pair.of(Side::incumbent).wall_ns);
    KP_TRY(rounds_.buffers().memory->health());
    if (const auto& failure = pair.of(Side::incumbent).failure) {
      return ours_failed(*failure, "the incumbent");
    }
    if (const auto& failure = pair.of(Side::candidate).failure) {
      out_.failure = failure;
      return std::optional<Pair>();
    }
    TimedPair timed{pair_key, pair.called, odd, false};
    timed.asked = outputs_.conspicuous(timed);
    timed.asked.insert(timed.asked.end(), pair.disagreeing.begin(), pair.disagreeing.end());
    for (const int set : timed.asked) {
      KP_TRY(ask_oracle(timed, set));
      if (out_.failure) {
        return std::optional<Pair>();
      }
    }
    return std::optional<Pair>(std::move(pair));
  }

  // Who is right on that set? Sets the failure when it is not the candidate. Only what we look at
  // by ourselves unsettles the next pair: a candidate can make doubts where it likes.
  [[nodiscard]] Status ask_oracle(const TimedPair& pair, int set) {
    KP_LET(out_.failure, outputs_.judge(pair, set));
    unsettled_ = unsettled_ || pair.sampled;
    return {};
  }

  // What other programs took is not its own slowness. Too much excused here costs time alone: it is
  // timed in full then. PyTorch's clock knows nothing of handing over.
  [[nodiscard]] bool clearly_slower_in(const Pair& pair) const {
    const Round& own = pair.of(Side::candidate);
    const double without_us_ns = own.wall_ns - (own.delay_ns - own.busy_ns);
    const double own_ns = in_.incumbent.trusted()
                              ? own.claim_ns
                              : undisturbed_ns(own, without_us_ns, in_.settings.threads);
    const double bound_ns = clearly_slower * pair.of(Side::incumbent).wall_ns;
    // Its own clock says so too, or it takes longer than a hand-over may.
    const bool told = own.claim_ns > bound_ns || own_ns > longest_hand_over_ns;
    return own_ns > bound_ns && told && !stolen_from(pair);
  }

  // Two pairs of short rounds; clearly slower in both ends the timing there. Where rounds are
  // hardly longer, these two are whole, and the first of the comparison.
  [[nodiscard]] Status screen() {
    const bool whole = shape_.rounds.calls <= 2 * screen_calls;
    const int calls = whole ? shape_.rounds.calls : screen_calls;
    int slower = 0;
    for (int i = 0; i < screen_pairs; ++i) {
      const Key pair_key = key(screen_purpose, i);
      KP_LET(std::optional<Pair> pair, one_pair(pair_key, i, calls));
      if (pair && whole) {
        KP_TRY(sample(pair_key, pair->called, i));
      }
      if (!pair || out_.failure) {
        return {};
      }
      slower += clearly_slower_in(*pair) ? 1 : 0;
      screened_.push_back(*pair);
    }
    out_.timing.screened = slower == screen_pairs;
    if (out_.timing.screened || whole) {
      for (const Pair& pair : screened_) {
        log_.record(pair);
      }
    }
    return {};
  }

  // Their outputs count, their times do not: those of tiny or constant values are others.
  [[nodiscard]] Status run_odd_pairs() {
    while (odd_.is_due(std::ssize(log_.calls))) {
      const int index = odd_.begun();
      const Key pair_key = odd_.begin();
      KP_LET(std::optional<Pair> pair, one_pair(pair_key, index, shape_.rounds.calls, true));
      if (!pair) {
        return {};
      }
      KeyedRandom random(derive(pair_key, time_sample_purpose));
      const std::vector<std::uint16_t>& called = pair->called;
      KP_TRY(ask_oracle({pair_key, called, true, true}, called[random.below(called.size())]));
      if (out_.failure) {
        return {};
      }
    }
    return {};
  }

  [[nodiscard]] Status run_pair() {
    const int index = timed_++;
    const Key pair_key = key(time_pair_purpose, index);
    if (index % null_every == 0) {
      KP_TRY(run_null(1));
    }
    KP_LET(std::optional<Pair> pair, one_pair(pair_key, index, shape_.rounds.calls));
    if (!pair) {
      return {};
    }
    if (disturbed(*pair) && out_.timing.dropped_pairs < shape_.pairs) {
      ++out_.timing.dropped_pairs;
      pauses_.wait();
      return {};
    }
    log_.record(*pair);
    return sample(pair_key, pair->called, std::ssize(log_.calls) - 1);
  }

  // A secret sample of the calls is held against the oracle too. `place`: among recorded pairs.
  [[nodiscard]] Status sample(const Key& pair_key, const std::vector<std::uint16_t>& called,
                              std::ptrdiff_t place) {
    if (!is_sampled(in_.key, place, shape_.pairs, in_.lower_bounds.empty())) {
      return {};
    }
    KeyedRandom random(derive(pair_key, time_sample_purpose));
    const int set = called[random.below(called.size())];
    KP_TRY(ask_oracle({pair_key, called, false, true}, set));
    if (!out_.failure && in_.task.tolerance.deterministic) {
      repeat(pair_key, called, set);
    }
    return {};
  }

  // Who sees by their number that calls are timed may do other work there than in the checks.
  void repeat(const Key& pair_key, const std::vector<std::uint16_t>& called, int set) {
    SetMemory& memory = *rounds_.buffers().memory;
    const auto outputs = [&] {
      return std::string(memory.output_regions(Side::candidate, set),
                         rounds_.buffers().plan().output_stride);
    };
    const std::string before = outputs();
    out_.failure = rounds_.run_again(in_.candidate, pair_key, called, timeout_ms(), false).failure;
    if (!out_.failure && outputs() != before) {
      out_.failure = Failure{Outcome::unstable,
                             "deterministic",
                             "its outputs differ between timed calls with the same inputs",
                             {}};
    }
  }

  // As many as belong to so many recorded pairs, spread over them.
  [[nodiscard]] Status run_singles(std::ptrdiff_t pairs) {
    const int wanted = wanted_singles(in_, shape_);
    const std::ptrdiff_t due =
        std::min<std::ptrdiff_t>(pairs, shape_.pairs) * wanted / shape_.pairs;
    while (!out_.failure && std::ssize(log_.singles) < due && singles_ < 3 * wanted) {
      KP_TRY(run_single_pair());
      // Whose turns on the device come late has no gate any more: what that takes is not known.
      if (std::ssize(log_.singles) == wanted && turns_come_late(log_)) {
        in_.candidate.refuse_gates();
        log_.singles.clear();
      }
    }
    return {};
  }

  [[nodiscard]] Status run_single_pair() {
    const int index = singles_++;
    KP_LET(std::optional<Pair> pair,
           one_pair(key(time_single_purpose, first_single_ + index), index, 1));
    if (!pair) {
      return {};
    }
    SinglePair single{std::move(*pair), {}};
    const bool gated = single.pair.of(Side::candidate).gated;
    if (in_.ground.enqueues()) {
      single.empty =
          rounds_.run_empty(in_.null, key(time_null_purpose, nulls_++), 1, timeout_ms(), gated);
    }
    if (single.empty.failure) {
      return ours_failed(*single.empty.failure, "the empty candidate");
    }
    // Ours came late, which they do not by themselves: this call has nothing to be held against.
    const bool other_gated = single.pair.of(Side::incumbent).gated;
    if (single.empty.gated != gated) {
      in_.null.allow_gates();
      return {};
    }
    // Single calls with a gate and without are not compared.
    const Pair& before = log_.singles.empty() ? single.pair : log_.singles.front().pair;
    if (before.of(Side::candidate).gated == gated && before.of(Side::incumbent).gated &&
        !other_gated) {
      in_.incumbent.allow_gates();
      return {};
    }
    if (before.of(Side::candidate).gated != gated ||
        before.of(Side::incumbent).gated != other_gated) {
      log_.singles.clear();
    }
    log_.singles.push_back(std::move(single));
    return {};
  }

  // By other programs, as the kernel counts it; nothing that a candidate does can bring it about.
  [[nodiscard]] bool disturbed(const Pair& pair) const {
    const Round& incumbent = pair.of(Side::incumbent);
    const double waited = incumbent.wall_ns > 0 ? incumbent.busy_ns / incumbent.wall_ns : 0;
    return waited > disturbed_share + shape_.waiting || stolen_from(pair);
  }

  // By other guests of the machine's host.
  [[nodiscard]] static bool stolen_from(const Pair& pair) {
    const double processors = std::max(1U, std::thread::hardware_concurrency());
    return pair.stolen_ns > stolen_share * processors * pair.wall_ns;
  }

  [[nodiscard]] TimingOutcome finish() {
    out_.precision = outputs_.precision();
    return std::move(out_);
  }

  const TimingInputs& in_;
  const TimedShape& shape_;
  Rounds& rounds_;
  TimedOutputs outputs_;
  TimingOutcome out_;
  RoundLog log_;
  bool unsettled_ = true;  // something else of ours ran last
  int timed_ = 0;          // pairs that were to be timed so far
  std::int64_t widest_until_ns_ =
      now_ns() + static_cast<std::int64_t>(most_times_longer * in_.settings.timing_seconds * 1e9);
  OddPairs odd_{in_.key, shape_.rounds.calls, shape_.pairs, in_.task.reference.torch};
  int nulls_ = 0;
  int first_single_ = 0;  // where their keys begin
  int singles_ = 0;
  Pauses pauses_;
  std::vector<Pair> screened_;
};

}  // namespace

Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape, Rounds& rounds) {
  rounds.redraw_scalars(derive(in.key, time_scalars_purpose));
  TimedShape timed = shape;
  timed.pairs = in.brief ? brief_pairs(shape.pairs) : shape.pairs;
  return ShapeRun(in, timed, rounds).run();
}

Result<TimingOutcome> time_singles(const TimingInputs& in, const TimedShape& shape, Rounds& rounds,
                                   double incumbent_ns, int draw) {
  return ShapeRun(in, shape, rounds).run_singles_alone(incumbent_ns, draw);
}

}  // namespace kernelpro
