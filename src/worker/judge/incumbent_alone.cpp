// The incumbent while no candidate's process is there, and a candidate beside another rival.
#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {

namespace {

// A median of few is often too small by chance, which costs the candidate. More of long rounds
// would take too long, and those differ less.
constexpr int alone_rounds = 5;
constexpr int long_alone_rounds = 3;
constexpr double long_round_ns = 20e6;

}  // namespace

Result<double> time_alone(Arm& incumbent, const TimedShape& shape, Rounds& rounds, const Key& key,
                          std::int64_t timeout_ms) {
  const ShapeBuffers& buffers = rounds.buffers();
  if (const auto failure =
          incumbent.attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms)) {
    return make_error(ErrorKind::lost, failure->summary, "the incumbent");
  }
  std::vector<double> calls_ns;
  const bool takes_long = shape.rounds.calls * shape.rounds.baseline_ns > long_round_ns;
  const int wanted = takes_long ? long_alone_rounds : alone_rounds;
  for (int i = 0; i < wanted; ++i) {
    // It is not on trial: values that it has seen before do.
    const Round round = rounds.run_alone(incumbent, key, shape.rounds.calls, timeout_ms, i == 0);
    if (round.failure) {
      return make_error(ErrorKind::lost, round.failure->summary, "the incumbent");
    }
    calls_ns.push_back(round.claim_ns / shape.rounds.calls);
  }
  KP_TRY(buffers.memory->health());
  return median(calls_ns);
}

Result<SinglesAlone> time_singles_alone(Arm& incumbent, Arm& null, const TimedShape& shape,
                                        Rounds& rounds, const Key& key, bool gated,
                                        std::int64_t timeout_ms) {
  constexpr int singles = 9;
  const ShapeBuffers& buffers = rounds.buffers();
  for (Arm* arm : {&incumbent, &null}) {
    arm->allow_gates();
    if (const auto failure =
            arm->attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms)) {
      return ours_failed(*failure, "the incumbent");
    }
  }
  std::vector<Round> calls;
  std::vector<Round> empties;
  for (int i = 0; i < singles && shape.rounds.calls > 1; ++i) {
    const Key own = derive(key, time_single_purpose, static_cast<std::uint64_t>(i));
    calls.push_back(rounds.run_single_alone(incumbent, own, timeout_ms));
    empties.push_back(rounds.run_empty(null, own, 1, timeout_ms, gated));
    for (const Round& round : {calls.back(), empties.back()}) {
      if (round.failure) {
        return ours_failed(*round.failure, "the incumbent");
      }
    }
  }
  KP_TRY(buffers.memory->health());
  return alone_of(calls, empties, gated);
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
  // What it was slower in pairs is counted in full: nothing of that is left to be tolerated.
  timing.budget.drift = 0;
  timing.speedup *= share;
  timing.speedup_interval.low *= share;
  timing.speedup_interval.high *= share;
  timing.comparison = compare(timing.speedup_interval, timing.budget.total());
  // Against an incumbent at its best "slower" is not proven: in pairs it may have been as fast.
  if (timing.comparison == Comparison::slower && in_pairs != Comparison::slower) {
    timing.comparison = Comparison::same;
  }
}

double count_candidate_at_its_worst(ShapeTiming& timing, const ShapeTiming& elsewhere) {
  const double explained = (1 + timing.budget.total()) * (1 + elsewhere.budget.total());
  if (timing.screened || elsewhere.candidate_ns <= timing.candidate_ns * explained) {
    return 1;
  }
  const double share = elsewhere.candidate_ns / timing.candidate_ns;
  timing.candidate_ns = elsewhere.candidate_ns;
  timing.candidate_interval.low *= share;
  timing.candidate_interval.high *= share;
  for (double& ns : timing.candidate_rounds) {
    ns *= share;
  }
  timing.speedup /= share;
  timing.speedup_interval.low /= share;
  timing.speedup_interval.high /= share;
  const Comparison now = compare(timing.speedup_interval, timing.budget.total());
  // What counts against it is no proof that it is slower.
  if (timing.comparison == Comparison::faster) {
    timing.comparison = now == Comparison::slower ? Comparison::same : now;
  }
  return share;
}

}  // namespace kernelpro
