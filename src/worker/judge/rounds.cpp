#include "worker/judge/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "common/base/random.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr double longest_round_ns = 50e6;
constexpr double most_bytes = 256 << 20;
constexpr int most_calls = runner::max_sets - 2;
constexpr std::uint64_t order_purpose = 0x6f72646572;

}  // namespace

RoundShape plan_rounds(const BufferPlan& plan, double baseline_ns, std::int64_t cache_bytes,
                       double least_ns) {
  RoundShape shape;
  shape.axes = plan.axes;
  shape.baseline_ns = baseline_ns;
  const double set = static_cast<double>(std::max<std::size_t>(plan.set_bytes, 1));
  const double call_ns = std::max(baseline_ns, 1.0);
  const double uncached = std::ceil(2.0 * static_cast<double>(cache_bytes) / set);
  const double longer = std::min(std::ceil(least_ns / call_ns), std::floor(most_bytes / set));
  const double wanted = std::max(uncached, longer);
  const double affordable = std::max(1.0, std::floor(longest_round_ns / call_ns));
  shape.calls = static_cast<int>(std::clamp(std::min(wanted, affordable), 1.0, double{most_calls}));
  shape.flush = shape.calls < uncached;
  return shape;
}

Rounds::Rounds(const Task& task, Stand stand, RoundShape shape, std::int64_t cache_bytes)
    : task_(task), stand_(std::move(stand)), shape_(std::move(shape)) {
  Result<Arena> saved = Arena::create(stand_.outputs.size(), false);
  if (saved) {
    saved_ = std::move(*saved);
  }
  if (shape_.flush) {
    evictor_.resize(static_cast<std::size_t>(2 * cache_bytes));
  }
}

void Rounds::redraw_scalars(std::uint64_t seed) {
  stand_.scalar_seed = seed;
  kernelpro::redraw_scalars(task_, stand_.plan, seed);
}

InputDraw Rounds::draw(std::uint64_t pair_seed, int set) const {
  InputDraw draw;
  draw.axes = shape_.axes;
  draw.scalar_seed = stand_.scalar_seed;
  draw.seed = counter_hash(pair_seed, static_cast<std::uint64_t>(set));
  return draw;
}

void Rounds::fill(std::uint64_t seed) {
  parallel_parts(static_cast<std::size_t>(stand_.plan.sets), 1,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t set = begin; set < end; ++set) {
                     const int index = static_cast<int>(set);
                     fill_inputs(task_, stand_.plan, stand_.inputs, index, draw(seed, index).seed,
                                 Distribution::normal);
                   }
                 });
}

void Rounds::poison() const {
  parallel_parts(stand_.outputs.size(), 1 << 20, [&](std::size_t begin, std::size_t end) {
    std::memset(stand_.outputs.data() + begin, poison_byte, end - begin);
  });
}

void Rounds::flush() {
  parallel_parts(evictor_.size(), 1 << 20, [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t line = 64;
    for (std::size_t i = begin; i < end; i += line) {
      evictor_[i] = static_cast<char>(evictor_[i] + 1);
    }
  });
}

std::vector<std::uint16_t> Rounds::order(std::uint64_t seed, int calls) const {
  std::vector<std::uint16_t> sets(static_cast<std::size_t>(stand_.plan.sets));
  std::iota(sets.begin(), sets.end(), std::uint16_t{0});
  Random random(counter_hash(seed, order_purpose));
  for (std::size_t i = sets.size(); i-- > 1;) {
    std::swap(sets[i], sets[random.below(i + 1)]);
  }
  sets.resize(static_cast<std::size_t>(calls));
  return sets;
}

Round Rounds::run_arm(Arm& arm, const std::vector<std::uint16_t>& sets, std::uint64_t seed,
                      std::int64_t timeout_ms) {
  poison();
  Round round;
  round.failure = prepare_blindly(task_, stand_, arm, timeout_ms, [&] { fill(seed); });
  if (round.failure) {
    return round;
  }
  flush();
  round = arm.run(sets, timeout_ms);
  if (!round.failure) {
    round.failure = check_memory(stand_, sets);
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
  parallel_parts(saved_.size(), 1 << 20, [&](std::size_t begin, std::size_t end) {
    std::memcpy(saved_.data() + begin, stand_.outputs.data() + begin, end - begin);
  });
  const int second = 1 - first;
  pair.rounds[at(second)] = run_arm(*arms[at(second)], pair.called, seed, timeout_ms);
  last_ = second;
  if (!pair.rounds[at(second)].failure) {
    find_disagreements(pair, bounds);
  }
  return pair;
}

void Rounds::find_disagreements(Pair& pair, const std::vector<double>& bounds) const {
  const BufferPlan& plan = stand_.plan;
  std::mutex mutex;
  parallel_parts(pair.called.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t t = plan.input_count; t < plan.tensors.size(); ++t) {
        const TensorPlan& tensor = plan.tensors[t];
        if (!agree(tensor_data(plan, stand_.outputs, pair.called[i], t),
                   tensor_data(plan, saved_, pair.called[i], t), tensor.dtype, tensor.elements,
                   bounds[t - plan.input_count])) {
          const std::lock_guard lock(mutex);
          pair.disagreeing.push_back(pair.called[i]);
          break;
        }
      }
    }
  });
}

Round Rounds::run_alone(Arm& arm, std::uint64_t seed, int calls, std::int64_t timeout_ms) {
  const std::vector<std::uint16_t> sets = order(seed, std::min(calls, shape_.calls));
  flush();
  return arm.run(sets, timeout_ms);
}

}  // namespace kernelpro
