#include "worker/judge/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"
#include "common/base/stolen_time.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

namespace {

constexpr double longest_round_ns = 50e6;

// A round of one call where others have many is about one set.
class Narrowed {
 public:
  Narrowed(SetMemory& memory, const std::vector<std::uint16_t>& single) : memory_(memory) {
    if (!single.empty()) {
      memory_.narrow(single.front());
    }
  }
  Narrowed(const Narrowed&) = delete;
  Narrowed& operator=(const Narrowed&) = delete;
  ~Narrowed() { memory_.narrow(std::nullopt); }

 private:
  SetMemory& memory_;
};

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
  // Drawing sets takes longer than flushing: beyond that the cache of a large server is flushed.
  const bool evicts = uncached * set <= limits.most_bytes / 2;
  const double wanted = evicts ? std::max(uncached, longer) : longer;
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

Rounds::Rounds(const Task& task, ShapeBuffers buffers, RoundShape shape, bool watch_inputs)
    : task_(task),
      buffers_(std::move(buffers)),
      shape_(std::move(shape)),
      watch_inputs_(watch_inputs) {}

void Rounds::redraw_scalars(const Key& key) {
  buffers_.scalar_key = key;
  kernelpro::redraw_scalars(task_, *buffers_.plan_holder, key);
}

int Rounds::spiked_set(const Key& pair) const {
  constexpr std::uint64_t one_in = 2;
  KeyedRandom random(derive(pair, round_spiked_purpose));
  if (task_.reference.torch || random.below(one_in) != 0) {
    return -1;
  }
  const std::vector<std::uint16_t> called = order(pair, shape_.calls);
  return called[random.below(called.size())];
}

std::uint64_t Rounds::first_odd(const Key& pair) {
  return KeyedRandom(derive(pair, round_odd_purpose)).below(odd_distributions);
}

InputDraw Rounds::draw(const Key& pair, int set, bool odd, int spiked) const {
  const auto index = static_cast<std::uint64_t>(set);
  InputDraw draw;
  draw.axes = shape_.axes;
  draw.scalar_key = buffers_.scalar_key;
  draw.values.key = derive(pair, round_set_purpose, index);
  if (odd) {
    // Each in turn, call by call, from a secret one on.
    const std::vector<std::uint16_t> called = order(pair, shape_.calls);
    const auto position = static_cast<std::uint64_t>(
        std::distance(called.begin(), std::find(called.begin(), called.end(), set)));
    draw.values.distribution =
        all_distributions[1 + (first_odd(pair) + position) % odd_distributions];
  } else if (set == spiked) {
    draw.values.distribution = Distribution::spiked;
  }
  return draw;
}

void Rounds::draw_called(const Key& key, const std::vector<std::uint16_t>& called, bool odd) {
  std::vector<SetDraw> draws;
  draws.reserve(static_cast<std::size_t>(buffers_.plan().sets));
  const int spiked = spiked_set(key);
  for (int set = 0; set < buffers_.plan().sets; ++set) {
    draws.push_back(draw(key, set, odd, spiked).values);
    draws.back().called = std::find(called.begin(), called.end(), set) != called.end();
  }
  buffers_.memory->draw(draws, poison_byte);
}

std::vector<std::uint16_t> Rounds::order(const Key& key, int calls) const {
  std::vector<std::uint16_t> sets(static_cast<std::size_t>(buffers_.plan().sets));
  std::iota(sets.begin(), sets.end(), std::uint16_t{0});
  KeyedRandom random(derive(key, round_order_purpose));
  for (std::size_t i = sets.size(); i-- > 1;) {
    std::swap(sets[i], sets[random.below(i + 1)]);
  }
  sets.resize(static_cast<std::size_t>(std::min(calls, shape_.calls)));
  return sets;
}

Caches Rounds::caches() const {
  if (shape_.warm) {
    return Caches::warm;
  }
  return shape_.flush ? Caches::cold : Caches::any;
}

Round Rounds::call(Arm& arm, const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms,
                   bool gated) const {
  // Of one set alone, what was drawn last would be in the caches, where the others' sets have
  // driven it out of them in a round.
  const bool cold = is_single(sets) && !shape_.warm;
  const Caches begin = cold ? Caches::cold : caches();
  if (gated) {
    if (std::optional<Round> round = arm.run_single(sets.front(), timeout_ms, begin)) {
      return std::move(*round);
    }
    buffers_.memory->poison_outputs(arm.side());
  }
  return arm.run(sets, timeout_ms, begin);
}

unsigned char Rounds::left_in_outputs(const Key& pair, int set) {
  constexpr std::uint64_t one_in = 4;
  KeyedRandom random(derive(pair, round_bytes_purpose, static_cast<std::uint64_t>(set)));
  return random.below(one_in) == 0 ? static_cast<unsigned char>(random.below(poison_byte))
                                   : poison_byte;
}

// Behind kp_prepare, which could write what does not depend on a call's inputs.
void Rounds::leave_bytes(Arm& arm, const Key& key, const std::vector<std::uint16_t>& sets) const {
  SetMemory& memory = *buffers_.memory;
  memory.poison_outputs(arm.side());
  for (const std::uint16_t set : sets) {
    if (const unsigned char left = left_in_outputs(key, set); left != poison_byte) {
      memory.fill_outputs(arm.side(), {set}, left);
    }
  }
  // Of all its calls alike: that of the first one in the round.
  arm.leave_in_workspace(left_in_outputs(key, sets.front()));
}

Round Rounds::run_arm(Arm& arm, const Key& key, const std::vector<std::uint16_t>& sets,
                      std::int64_t timeout_ms, bool single) {
  SetMemory& memory = *buffers_.memory;
  Round round;
  round.failure = refuse_needless_prepare(task_, arm);
  if (!round.failure) {
    round.failure = prepare_blindly(buffers_, arm, timeout_ms);
  }
  if (round.failure) {
    return round;
  }
  leave_bytes(arm, key, sets);
  round = call(arm, sets, timeout_ms, single);
  arm.leave_in_workspace(poison_byte);
  if (!round.failure) {
    round.failure = check_memory(buffers_, arm.side(), sets);
  }
  if (!round.failure && watch_inputs_ && !memory.inputs_intact(arm.side())) {
    round.failure = Failure{Outcome::cheated, "input_write", "the inputs changed while it ran", {}};
  }
  return round;
}

// Who prepares constants has its inputs written once more right before its calls, and finds the
// caches otherwise than who prepares none: the same kernel took 3 to 8 % longer with a kp_prepare
// that does nothing. So the other arm has them written as well.
void Rounds::write_as_late(const std::array<Arm*, 2>& arms, Side side) const {
  if (arms[index_of(other_side(side))]->has_prepare() && !arms[index_of(side)]->has_prepare()) {
    buffers_.memory->give_constants(side);
  }
}

Pair Rounds::run(const std::array<Arm*, 2>& arms, Side first, const Key& key, int calls,
                 const std::vector<double>& bounds, std::int64_t timeout_ms, bool odd) {
  const std::int64_t start = now_ns();
  const double stolen_before = stolen_ns();
  Pair pair;
  pair.called = order(key, calls);
  const bool single = is_single(pair.called);
  const Narrowed narrowed(*buffers_.memory, single ? pair.called : std::vector<std::uint16_t>());
  draw_called(key, pair.called, odd);
  for (const Side side : {first, other_side(first)}) {
    write_as_late(arms, side);
    pair.of(side) = run_arm(*arms[index_of(side)], key, pair.called, timeout_ms, single);
    if (pair.of(side).failure) {
      return pair;
    }
    if (side == first && side == Side::incumbent) {
      buffers_.memory->hide(side);
    }
  }
  pair.disagreeing = buffers_.memory->disagreeing(pair.called, bounds);
  pair.stolen_ns = stolen_ns() - stolen_before;
  pair.wall_ns = static_cast<double>(now_ns() - start);
  return pair;
}

Result<runner::Trace> Rounds::trace(Arm& arm, const Key& key, std::int64_t timeout_ms) {
  const std::vector<std::uint16_t> called = order(key, 1);
  draw_called(key, called, false);
  buffers_.memory->poison_outputs(arm.side());
  if (const auto failure = prepare_blindly(buffers_, arm, timeout_ms)) {
    return make_error(ErrorKind::lost, failure->summary);
  }
  buffers_.memory->make_ready(arm.side(), caches());
  buffers_.memory->give(arm.side(), caches());
  return arm.trace(called.front(), timeout_ms);
}

Round Rounds::run_alone(Arm& arm, const Key& key, int calls, std::int64_t timeout_ms, bool fresh) {
  const std::vector<std::uint16_t> called = order(key, calls);
  if (fresh) {
    draw_called(key, called, false);
  }
  return run_arm(arm, key, called, timeout_ms);
}

Round Rounds::run_single_alone(Arm& arm, const Key& key, std::int64_t timeout_ms) {
  const std::vector<std::uint16_t> called = order(key, 1);
  const bool single = is_single(called);
  const Narrowed narrowed(*buffers_.memory, single ? called : std::vector<std::uint16_t>());
  draw_called(key, called, false);
  return run_arm(arm, key, called, timeout_ms, single);
}

Round Rounds::run_again(Arm& arm, const Key& key, const std::vector<std::uint16_t>& called,
                        std::int64_t timeout_ms, bool odd) {
  draw_called(key, called, odd);
  return run_arm(arm, key, called, timeout_ms);
}

Round Rounds::run_empty(Arm& arm, const Key& key, int calls, std::int64_t timeout_ms, bool gated) {
  // As before every round: what the caches hold when we hand over is part of what it costs.
  const std::vector<std::uint16_t> called = order(key, calls);
  const bool single = is_single(called);
  const Narrowed narrowed(*buffers_.memory, single ? called : std::vector<std::uint16_t>());
  buffers_.memory->poison_outputs(arm.side());
  return call(arm, called, timeout_ms, single && gated);
}

}  // namespace kernelpro
