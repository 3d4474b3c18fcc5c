// The incumbent while no candidate's process is there.
#include "worker/judge/statistics.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {

namespace {

constexpr int alone_rounds = 3;

}  // namespace

Result<double> time_alone(Arm& incumbent, const TimedShape& shape, Rounds& rounds, const Key& key,
                          std::int64_t timeout_ms) {
  const ShapeBuffers& buffers = rounds.buffers();
  if (const auto failure =
          incumbent.attach(buffers.plan(), *buffers.memory, Side::incumbent, timeout_ms)) {
    return make_error(ErrorKind::lost, failure->summary, "the incumbent");
  }
  std::vector<double> calls_ns;
  for (int i = 0; i < alone_rounds; ++i) {
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

}  // namespace kernelpro
