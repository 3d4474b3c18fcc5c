// Rounds: K calls on K prepared sets, timed together, two arms on the same inputs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "worker/judge/shape_buffers.hpp"

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

// K such that the sets together exceed twice the last-level cache, unless that is more than half of
// `most_bytes`, and a round lasts at least `least_ns`, but stays below about 50 ms and the sets
// within `most_bytes`; where that is not enough to leave the cache, the round is flushed. Warm: K
// such that the sets together fill at most half of the cache.
[[nodiscard]] RoundShape plan_rounds(const BufferPlan& plan, double baseline_ns,
                                     const RoundLimits& limits, double least_ns = 0);

// Two arms and what they did on the same inputs.
struct Pair {
  std::array<Round, 2> rounds;  // by side
  std::vector<std::uint16_t> called;
  std::vector<int> disagreeing;  // sets on which the outputs of the arms do not agree
  // Whether nothing else of ours ran just before it: on a GPU the first round behind another
  // process's work takes up to a third longer.
  bool settled = true;
  double stolen_ns = 0;  // taken from the whole machine by its hypervisor meanwhile
  double wall_ns = 0;    // of the whole pair, drawing and comparing included

  [[nodiscard]] const Round& of(Side side) const { return rounds[index_of(side)]; }
  [[nodiscard]] Round& of(Side side) { return rounds[index_of(side)]; }
};

inline constexpr int odd_distributions = static_cast<int>(std::size(all_distributions)) - 1;

class Rounds {
 public:
  Rounds(const Task& task, ShapeBuffers buffers, RoundShape shape, bool watch_inputs);

  [[nodiscard]] const ShapeBuffers& buffers() const { return buffers_; }
  [[nodiscard]] const RoundShape& shape() const { return shape_; }
  // Draws the task's scalars anew; arms must be attached again afterwards.
  void redraw_scalars(const Key& key);
  // The draw behind set `set` of the pair with that key. `odd`: in the distributions beside the
  // normal one, call by call. In the others one set is spiked now and then, so that neither what
  // the rest of it looks like nor the sets beside it tell that its values are no common ones.
  [[nodiscard]] InputDraw draw(const Key& pair, int set, bool odd = false) const {
    return draw(pair, set, odd, spiked_set(pair));
  }

  // What the outputs of set `set` hold before a call of the pair with that key: poison as a rule,
  // and in a secret quarter of all another byte. Who counts on what was there is wrong in some
  // calls.
  [[nodiscard]] static unsigned char left_in_outputs(const Key& pair, int set);

  // Which of the distributions beside the normal one an odd pair with that key begins with.
  [[nodiscard]] static std::uint64_t first_odd(const Key& pair);

  // Draws fresh inputs for all sets, then lets both arms, one of each side, run `calls` of them (at
  // most K) in the same secret order, that of `first` before the other. Where there is one set more
  // than K, it is never called. A failure is in its arm's round, and the pair ends there.
  [[nodiscard]] Pair run(const std::array<Arm*, 2>& arms, Side first, const Key& key, int calls,
                         const std::vector<double>& bounds, std::int64_t timeout_ms,
                         bool odd = false);

  // One round of a single arm, on fresh inputs or on those that are there; its outputs are
  // unchecked.
  [[nodiscard]] Round run_alone(Arm& arm, const Key& key, int calls, std::int64_t timeout_ms,
                                bool fresh);

  // One call by itself, on fresh inputs and through a gate, of an arm that is alone.
  [[nodiscard]] Round run_single_alone(Arm& arm, const Key& key, std::int64_t timeout_ms);

  // Lets one arm repeat the calls of a pair, on the inputs of it drawn again: as they were before
  // they were nudged.
  [[nodiscard]] Round run_again(Arm& arm, const Key& key, const std::vector<std::uint16_t>& called,
                                std::int64_t timeout_ms, bool odd);

  // One round of an arm that reads and writes nothing, on whatever inputs there are.
  // A single call goes through a gate, or not.
  [[nodiscard]] Round run_empty(Arm& arm, const Key& key, int calls, std::int64_t timeout_ms,
                                bool gated = false);

  // What the GPU does in one call on fresh inputs, cold or warm as in a round.
  [[nodiscard]] Result<runner::Trace> trace(Arm& arm, const Key& key, std::int64_t timeout_ms);

  // How the caches are when a round's calls begin.
  [[nodiscard]] Caches caches() const;

 private:
  [[nodiscard]] InputDraw draw(const Key& pair, int set, bool odd, int spiked) const;
  // Which set of a pair of common values is spiked; -1: none.
  [[nodiscard]] int spiked_set(const Key& pair) const;
  // The inputs of the sets that are called.
  void draw_called(const Key& key, const std::vector<std::uint16_t>& called, bool odd);
  [[nodiscard]] std::vector<std::uint16_t> order(const Key& key, int calls) const;
  // Whether one call is made where others have many: it is about its own set then, and goes through
  // a gate where there are any.
  [[nodiscard]] bool is_single(const std::vector<std::uint16_t>& called) const {
    return shape_.calls > 1 && called.size() == 1;
  }
  [[nodiscard]] Round call(Arm& arm, const std::vector<std::uint16_t>& sets,
                           std::int64_t timeout_ms, bool gated) const;
  [[nodiscard]] Round run_arm(Arm& arm, const Key& key, const std::vector<std::uint16_t>& sets,
                              std::int64_t timeout_ms, bool single = false);
  void write_as_late(const std::array<Arm*, 2>& arms, Side side) const;
  // Poison, and other bytes, in the outputs of that arm and in what its workspace will hold.
  void leave_bytes(Arm& arm, const Key& key, const std::vector<std::uint16_t>& sets) const;

  const Task& task_;
  ShapeBuffers buffers_;
  RoundShape shape_;
  bool watch_inputs_;
};

}  // namespace kernelpro
