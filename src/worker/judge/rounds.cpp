#include "worker/judge/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.hpp"

namespace kernelpro {

namespace {

constexpr double longest_round_ns = 50e6;
constexpr std::uint64_t order_purpose = 0x6f72646572;

}  // namespace

RoundShape plan_rounds(const BufferPlan& plan, double baseline_ns, const RoundLimits& limits,
                       double least_ns) {
  RoundShape shape;
  shape.axes = plan.axes;
  shape.baseline_ns = baseline_ns;
  const double set = static_cast<double>(std::max<std::size_t>(plan.set_bytes, 1));
  const double call_ns = std::max(baseline_ns, 1.0);
  const double uncached = std::ceil(2.0 * static_cast<double>(limits.cache_bytes) / set);
  const double longer =
      std::min(std::ceil(least_ns / call_ns), std::floor(limits.most_bytes / set));
  const double wanted = std::max(uncached, longer);
  const double affordable = std::max(1.0, std::floor(longest_round_ns / call_ns));
  shape.calls = static_cast<int>(
      std::clamp(std::min(wanted, affordable), 1.0, static_cast<double>(limits.most_calls)));
  shape.flush = limits.always_flush || shape.calls < uncached;
  if (limits.warm) {
    const double cached = std::floor(static_cast<double>(limits.cache_bytes) / 2 / set);
    shape.calls = static_cast<int>(std::clamp(cached, 1.0, static_cast<double>(shape.calls)));
    shape.flush = false;
    shape.warm = true;
  }
  return shape;
}

Rounds::Rounds(const Task& task, Stand stand, RoundShape shape, bool watch_inputs)
    : task_(task),
      stand_(std::move(stand)),
      shape_(std::move(shape)),
      watch_inputs_(watch_inputs) {}

void Rounds::redraw_scalars(std::uint64_t seed) {
  stand_.scalar_seed = seed;
  kernelpro::redraw_scalars(task_, *stand_.plan_holder, seed);
}

InputDraw Rounds::draw(std::uint64_t pair_seed, int set) const {
  InputDraw draw;
  draw.axes = shape_.axes;
  draw.scalar_seed = stand_.scalar_seed;
  draw.seed = counter_hash(pair_seed, static_cast<std::uint64_t>(set));
  return draw;
}

void Rounds::fill(std::uint64_t seed) {
  std::vector<std::uint64_t> seeds;
  seeds.reserve(static_cast<std::size_t>(stand_.plan().sets));
  for (int set = 0; set < stand_.plan().sets; ++set) {
    seeds.push_back(draw(seed, set).seed);
  }
  stand_.memory->fill(seeds, Distribution::normal, poison_byte);
}

std::vector<std::uint16_t> Rounds::order(std::uint64_t seed, int calls) const {
  std::vector<std::uint16_t> sets(static_cast<std::size_t>(stand_.plan().sets));
  std::iota(sets.begin(), sets.end(), std::uint16_t{0});
  Random random(counter_hash(seed, order_purpose));
  for (std::size_t i = sets.size(); i-- > 1;) {
    std::swap(sets[i], sets[random.below(i + 1)]);
  }
  sets.resize(static_cast<std::size_t>(calls));
  return sets;
}

void Rounds::set_caches() const {
  if (shape_.flush) {
    stand_.memory->flush();
  }
  if (shape_.warm) {
    // Every byte is read, which is all that warming takes.
    static_cast<void>(stand_.memory->inputs_hash());
  }
}

Round Rounds::run_arm(Arm& arm, const std::vector<std::uint16_t>& sets, std::uint64_t seed,
                      std::int64_t timeout_ms) {
  SetMemory& memory = *stand_.memory;
  memory.poison_outputs();
  Round round;
  round.failure = prepare_blindly(stand_, arm, timeout_ms, [&] { fill(seed); });
  if (round.failure) {
    return round;
  }
  const std::uint64_t before = watch_inputs_ ? memory.inputs_hash() : 0;
  memory.hide(sets, secret_seed());
  set_caches();
  round = arm.run(sets, timeout_ms, [&memory] { memory.reveal(); });
  if (!round.failure) {
    round.failure = check_memory(stand_, sets);
  }
  if (!round.failure && watch_inputs_ && memory.inputs_hash() != before) {
    round.failure = Failure{Outcome::cheated, "input_write", "the inputs changed while it ran", {}};
  }
  return round;
}

Pair Rounds::run(const std::array<Arm*, 2>& arms, int first, std::uint64_t seed, int calls,
                 const std::vector<double>& bounds, std::int64_t timeout_ms) {
  Pair pair;
  pair.called = order(seed, std::min(calls, shape_.calls));
  fill(seed);
  const auto at = [](int arm) { return static_cast<std::size_t>(arm); };
  pair.rounds[at(first)] = run_arm(*arms[at(first)], pair.called, seed, timeout_ms);
  last_ = first;
  if (pair.rounds[at(first)].failure) {
    return pair;
  }
  stand_.memory->save_outputs();
  const int second = 1 - first;
  pair.rounds[at(second)] = run_arm(*arms[at(second)], pair.called, seed, timeout_ms);
  last_ = second;
  if (!pair.rounds[at(second)].failure) {
    pair.disagreeing = stand_.memory->disagreeing(pair.called, bounds);
  }
  return pair;
}

Result<runner::Trace> Rounds::trace(Arm& arm, std::uint64_t seed, std::int64_t timeout_ms) {
  fill(seed);
  stand_.memory->poison_outputs();
  if (const auto failure = prepare_blindly(stand_, arm, timeout_ms, [&] { fill(seed); })) {
    return make_error(ErrorKind::lost, failure->summary);
  }
  set_caches();
  return arm.trace(order(seed, 1).front(), timeout_ms);
}

Round Rounds::run_alone(Arm& arm, std::uint64_t seed, int calls, std::int64_t timeout_ms) {
  const std::vector<std::uint16_t> sets = order(seed, std::min(calls, shape_.calls));
  SetMemory& memory = *stand_.memory;
  memory.hide(sets, seed);
  set_caches();
  return arm.run(sets, timeout_ms, [&memory] { memory.reveal(); });
}

}  // namespace kernelpro
