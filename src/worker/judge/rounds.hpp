// Rounds: K calls on K prepared sets, timed together, two arms on the same inputs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "worker/judge/stand.hpp"

namespace kernelpro {

// How the rounds of one shape are laid out; the same for every candidate.
struct RoundShape {
  Axes axes;               // completed
  int calls = 1;           // K
  bool flush = false;      // the sets do not exceed the cache by themselves
  bool warm = false;       // the inputs are read just before a round
  double baseline_ns = 0;  // of one call, alone
};

// What a round may take on a ground.
struct RoundLimits {
  std::int64_t cache_bytes = 0;
  double most_bytes = 256 << 20;
  int most_calls = runner::max_sets - 2;
  bool always_flush = false;
  bool warm = false;
};

// K such that the sets together exceed twice the last-level cache and a round lasts at least
// `least_ns`, but stays below about 50 ms and the sets within `most_bytes`; where that is not
// enough to leave the cache, the round is flushed. Warm: K such that the sets together fill at most
// half of the cache.
[[nodiscard]] RoundShape plan_rounds(const BufferPlan& plan, double baseline_ns,
                                     const RoundLimits& limits, double least_ns = 0);

// The arms of a pair, where one of them is on trial.
inline constexpr int candidate_arm = 0;
inline constexpr int incumbent_arm = 1;

// Two arms and what they did on the same inputs.
struct Pair {
  std::array<Round, 2> rounds;  // by arm, not by order
  std::vector<std::uint16_t> called;
  std::vector<int> disagreeing;  // sets on which the outputs of the arms do not agree
};

class Rounds {
 public:
  Rounds(const Task& task, Stand stand, RoundShape shape, bool watch_inputs);

  [[nodiscard]] const Stand& stand() const { return stand_; }
  [[nodiscard]] const RoundShape& shape() const { return shape_; }
  // Draws the task's scalars anew; arms must be attached again afterwards.
  void redraw_scalars(std::uint64_t seed);
  // The draw behind set `set` of the pair with that seed.
  [[nodiscard]] InputDraw draw(std::uint64_t pair_seed, int set) const;

  // Draws fresh inputs for all sets, then lets both arms run `calls` of them (at most K) in the
  // same secret order, `first` before the other. One set more than K is never called. A failure is
  // in its arm's round, and the pair ends there.
  [[nodiscard]] Pair run(const std::array<Arm*, 2>& arms, int first, std::uint64_t seed, int calls,
                         const std::vector<double>& bounds, std::int64_t timeout_ms);

  // One round of a single arm, unchecked: for null candidates.
  [[nodiscard]] Round run_alone(Arm& arm, std::uint64_t seed, int calls, std::int64_t timeout_ms);

  // What the GPU does in one call on fresh inputs, cold or warm as in a round.
  [[nodiscard]] Result<runner::Trace> trace(Arm& arm, std::uint64_t seed, std::int64_t timeout_ms);

  // Where the outputs of `arm` in the last pair are.
  [[nodiscard]] SetMemory::Copy outputs(int arm) const {
    return arm == last_ ? SetMemory::Copy::outputs : SetMemory::Copy::saved;
  }

 private:
  // Leaves the caches as the round wants them.
  void set_caches() const;
  void fill(std::uint64_t seed);
  [[nodiscard]] std::vector<std::uint16_t> order(std::uint64_t seed, int calls) const;
  [[nodiscard]] Round run_arm(Arm& arm, const std::vector<std::uint16_t>& sets, std::uint64_t seed,
                              std::int64_t timeout_ms);

  const Task& task_;
  Stand stand_;
  RoundShape shape_;
  bool watch_inputs_;
  int last_ = 1;  // the arm that ran last; the other's outputs are saved
};

}  // namespace kernelpro
