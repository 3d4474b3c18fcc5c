// Synthetic optimization problems with a playbook, to compare ways to search: a program is a state,
// its proposals come in an order that is better than chance, and its speed is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro::landscape {

using State = std::vector<int>;  // applied moves in ascending order, or values of tunables

struct Judged {
  Outcome outcome = Outcome::passed;
  double log_speedup = 0;
};

// A number in [0, 1) of this seed and this state.
inline double unit_of(std::uint64_t seed, const State& state, std::uint64_t salt) {
  std::uint64_t hash = counter_hash(seed, salt);
  for (const int part : state) {
    hash = counter_hash(hash, static_cast<std::uint64_t>(part + 1000));
  }
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

class Landscape {
 public:
  explicit Landscape(std::uint64_t seed) : seed_(seed) {}
  Landscape(const Landscape&) = delete;
  Landscape& operator=(const Landscape&) = delete;
  virtual ~Landscape() = default;

  [[nodiscard]] virtual State baseline() const { return {}; }
  [[nodiscard]] virtual Judged judge(const State& state) const = 0;

  // What a playbook would try next: neighbors by their true gain, blurred. What pays only later
  // does not show its gain here either.
  [[nodiscard]] std::vector<State> proposals(const State& state) const {
    std::vector<std::pair<double, State>> ranked;
    for (State& next : neighbors(state)) {
      const Judged judged = judge(next);
      const double gain = judged.outcome == Outcome::passed ? judged.log_speedup : hoped_gain;
      // The sum of three uniform numbers is near enough to a bell.
      const double bell =
          unit_of(seed_, next, 11) + unit_of(seed_, next, 12) + unit_of(seed_, next, 13) - 1.5;
      ranked.emplace_back(-(gain + blur() * bell), std::move(next));
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<State> states;
    for (auto& [promise, next] : ranked) {
      states.push_back(std::move(next));
    }
    return states;
  }

  // What the clock adds: up to two percent either way.
  [[nodiscard]] double noise(const State& state) const {
    return 0.04 * (unit_of(seed_, state, 21) - 0.5);
  }

 protected:
  [[nodiscard]] virtual std::vector<State> neighbors(const State& state) const = 0;
  [[nodiscard]] virtual double blur() const { return 1.0; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  // A fixed draw of this landscape, in [low, high).
  [[nodiscard]] double draw(std::uint64_t salt, double low, double high) const {
    return low + (high - low) * unit_of(seed_, {}, 100 + salt);
  }

  static constexpr double hoped_gain = 0.1;

 private:
  std::uint64_t seed_;
};

// States are sets of moves.
class Moves : public Landscape {
 public:
  Moves(std::uint64_t seed, int count) : Landscape(seed), count_(count) {}

 protected:
  [[nodiscard]] std::vector<State> neighbors(const State& state) const override {
    std::vector<State> found;
    for (int move = 0; move < count_; ++move) {
      if (!has(state, move)) {
        State next = state;
        next.insert(std::lower_bound(next.begin(), next.end(), move), move);
        found.push_back(std::move(next));
      }
    }
    return found;
  }

  static bool has(const State& state, int move) {
    return std::binary_search(state.begin(), state.end(), move);
  }

  // Moves without a role of their own: most do nothing or a little harm.
  [[nodiscard]] double idle_gain(int move) const {
    return draw(static_cast<std::uint64_t>(move), -0.15, 0.03);
  }

  [[nodiscard]] int count() const { return count_; }

 private:
  int count_;
};

// Six moves that pay only in their order; the third one costs a little before the fourth pays
// twice.
class Chain : public Moves {
 public:
  explicit Chain(std::uint64_t seed) : Moves(seed, 14) {}

  [[nodiscard]] Judged judge(const State& state) const override {
    int done = 0;
    while (done < links && has(state, done)) {
      ++done;
    }
    double gain = 0;
    for (const int move : state) {
      if (move >= links) {
        gain += idle_gain(move);
      } else if (move >= done) {
        gain -= 0.1;
      } else {
        gain += move == 2 ? -0.05 : draw(static_cast<std::uint64_t>(move), 0.1, 0.8);
      }
    }
    return {Outcome::passed, gain};
  }

 private:
  static constexpr int links = 6;
};

// Four good moves of twenty-four; six others fail, and whatever holds one of them fails.
class Useless : public Moves {
 public:
  explicit Useless(std::uint64_t seed) : Moves(seed, 24) {}

  [[nodiscard]] Judged judge(const State& state) const override {
    double gain = 0;
    for (const int move : state) {
      if (move < 4) {
        gain += draw(static_cast<std::uint64_t>(move), 0.2, 0.7);
      } else if (move < 10) {
        const bool builds = move % 2 == 0;
        return {builds ? Outcome::incorrect : Outcome::build_failed, 0};
      } else {
        gain += idle_gain(move);
      }
    }
    return {Outcome::passed, gain};
  }
};

// Two moves pay at once and end everything; a third pays little and opens the way.
class Deceptive : public Moves {
 public:
  explicit Deceptive(std::uint64_t seed) : Moves(seed, 12) {}

  [[nodiscard]] Judged judge(const State& state) const override {
    double gain = 0;
    const bool trapped = has(state, 0) || has(state, 1);
    for (const int move : state) {
      if (move < 2) {
        gain += draw(static_cast<std::uint64_t>(move), 0.6, 1.0);
      } else if (move == 2) {
        gain += trapped ? -0.1 : 0.05;
      } else if (move < 6) {
        const bool ready = has(state, move - 1) && !trapped;
        gain += ready ? draw(static_cast<std::uint64_t>(move), 0.4, 0.8) : -0.1;
      } else {
        gain += idle_gain(move);
      }
    }
    return {Outcome::passed, trapped ? std::min(gain, 1.1) : gain};
  }
};

// Four tunables from 0 to 7 with one optimum; too large together, they do not fit.
class Hills : public Landscape {
 public:
  explicit Hills(std::uint64_t seed) : Landscape(seed) {}

  [[nodiscard]] State baseline() const override { return {0, 0, 0, 0}; }

  [[nodiscard]] Judged judge(const State& state) const override {
    int sum = 0;
    for (const int value : state) {
      sum += value;
    }
    if (sum > 22) {
      return {Outcome::out_of_memory, 0};
    }
    return {Outcome::passed, height(state) - height(baseline())};
  }

 protected:
  [[nodiscard]] std::vector<State> neighbors(const State& state) const override {
    std::vector<State> found;
    for (std::size_t axis = 0; axis < state.size(); ++axis) {
      for (const int step : {1, -1, 2}) {
        State next = state;
        next[axis] += step;
        if (next[axis] >= 0 && next[axis] <= 7) {
          found.push_back(std::move(next));
        }
      }
    }
    return found;
  }
  [[nodiscard]] double blur() const override { return 0.3; }

 private:
  [[nodiscard]] double height(const State& state) const {
    double height = 0;
    for (std::size_t axis = 0; axis < state.size(); ++axis) {
      const double off = state[axis] - draw(axis, 1.5, 6.5);
      height -= 0.03 * off * off;
    }
    // The first two only pay in step.
    const double apart = state[0] - state[1];
    return height - 0.02 * apart * apart;
  }
};

// As on a real kernel: flags, parallel, then blocking and packing, which pay only together, then
// two tunables. What holds a move without a role fails in some combinations.
class Recipe : public Landscape {
 public:
  explicit Recipe(std::uint64_t seed) : Landscape(seed) {}

  [[nodiscard]] State baseline() const override { return State(moves + 2, 0); }

  [[nodiscard]] Judged judge(const State& state) const override {
    double gain = 0;
    for (int move = 0; move < moves; ++move) {
      if (on(state, move) && move > 4 && unit_of(seed(), prefix(state), 31) < 0.15) {
        return {move % 2 == 0 ? Outcome::crashed : Outcome::build_failed, 0};
      }
      gain += on(state, move) ? gain_of(state, move) : 0;
    }
    const double first = state[moves] - draw(61, 1.0, 5.0);
    const double second = state[moves + 1] - draw(62, 1.0, 5.0);
    const double zero =
        draw(61, 1.0, 5.0) * draw(61, 1.0, 5.0) + draw(62, 1.0, 5.0) * draw(62, 1.0, 5.0);
    const double tuned = 0.03 * (zero - first * first - second * second);
    return {Outcome::passed, on(state, 2) ? gain + tuned : gain - std::abs(tuned) * 0.2};
  }

 protected:
  [[nodiscard]] std::vector<State> neighbors(const State& state) const override {
    std::vector<State> found;
    for (std::size_t place = 0; place < state.size(); ++place) {
      const int most = place < moves ? 1 : 6;
      if (state[place] < most) {
        State next = state;
        ++next[place];
        found.push_back(std::move(next));
      }
    }
    return found;
  }

 private:
  static constexpr int moves = 14;

  static bool on(const State& state, int move) { return state[static_cast<std::size_t>(move)] > 0; }
  static State prefix(const State& state) { return {state.begin(), state.begin() + moves}; }

  [[nodiscard]] double gain_of(const State& state, int move) const {
    const auto salt = static_cast<std::uint64_t>(move);
    switch (move) {
      case 0:
        return draw(salt, 0.2, 0.6);
      case 1:
        return draw(salt, 0.3, 0.7);
      case 2:  // blocking
        return on(state, 3) ? draw(salt, 0.4, 0.9) : -0.05;
      case 3:  // packing
        return on(state, 2) ? 0 : -0.2;
      case 4:  // vectors by hand, once blocked
        return on(state, 2) ? draw(salt, 0.1, 0.5) : 0;
      default:
        return draw(salt, -0.2, 0.03);
    }
  }
};

inline const std::vector<std::string>& families() {
  static const std::vector<std::string> names = {"chain", "useless", "deceptive", "hills",
                                                 "recipe"};
  return names;
}

inline std::unique_ptr<Landscape> make_landscape(const std::string& family, std::uint64_t seed) {
  if (family == "chain") {
    return std::make_unique<Chain>(seed);
  }
  if (family == "useless") {
    return std::make_unique<Useless>(seed);
  }
  if (family == "deceptive") {
    return std::make_unique<Deceptive>(seed);
  }
  if (family == "hills") {
    return std::make_unique<Hills>(seed);
  }
  return std::make_unique<Recipe>(seed);
}

}  // namespace kernelpro::landscape
