// Candidate against incumbent: screen, rounds in mirrored order, clocks, comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/ceilings.hpp"
#include "worker/judge/rounds.hpp"

namespace kernelpro {

// What is known of a timed shape before any candidate comes: made once when the task is opened.
struct TimedShape {
  Axes axes;
  RoundShape rounds;
  int pairs = 10;          // how many pairs of rounds a comparison gets
  double noise_floor = 0;  // two processes of the baseline against each other
  double waiting = 0;      // the share of those rounds spent waiting for a processor
  double solo_ns = 0;      // the baseline's median call, alone
};

struct TimingInputs {
  const Task& task;
  Ground& ground;
  Oracle& oracle;
  const JudgeSettings& settings;
  const Ceilings& ceilings;
  Arm& candidate;
  Arm& incumbent;
  Arm& null;  // an empty candidate: what a round costs without work
  bool incumbent_is_baseline = true;
  std::uint64_t seed = 0;
  // By output: within how much two right outputs agree at that shape.
  std::vector<double> bounds;
  std::vector<std::string> allowed_precisions;
};

struct TimingOutcome {
  std::optional<Failure> failure;  // the candidate's
  ShapeTiming timing;
  std::vector<std::string> suspicions;
};

// Times the candidate at one shape. An error is ours: the incumbent or the oracle failed.
// `rounds` are the shape's buffers, which stay from one evaluation to the next.
[[nodiscard]] Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape,
                                               Rounds& rounds);

// Rounds of the empty candidate: what our clock shows beyond its claim, in nanoseconds.
struct NullClock {
  double median_ns = 0;
  double spread_ns = 0;  // between the quartiles
  double delay_ns = 0;   // median wait for a processor in the hand-over itself
  double doubt_ns = 0;   // what the ground says of its hand-over
};

[[nodiscard]] NullClock summarize_null(const std::vector<Round>& rounds, double doubt_ns = 0);

// How long a round must be for the hand-over's noise to be a small share of it.
[[nodiscard]] double least_round_ns(const NullClock& null);

// The claims of one arm's rounds against our clock.
struct ClockCheck {
  // The share of our clock that the claims leave out and waiting for a processor does not explain:
  // lower quartile over the rounds.
  double gap = 0;
  double gap_ns = 0;   // the same in nanoseconds of a round
  double noise = 0;    // the share that the hand-over explains on this machine
  double waiting = 0;  // the share of all rounds spent waiting for a processor
  // Nanoseconds of each round that count: the claim, or our clock where it exceeds the claim beyond
  // the noise, or beyond `proof` where that is less. So a lie gains next to nothing, proven or not.
  std::vector<double> believed_ns;
  // Whether a lie is proven.
  [[nodiscard]] bool proves_lie() const {
    return gap > std::max(noise, proof) && gap_ns > unproven_ns;
  }

  // An accusation needs more than a doubt.
  static constexpr double proof = 0.05;
  // Stopping a process whose threads spin takes longer than stopping the empty candidate: 75 us
  // were seen on two cores, in rounds of an honest candidate that lasted 1.3 ms.
  static constexpr double unproven_ns = 250e3;
};

[[nodiscard]] ClockCheck check_clock(const std::vector<Round>& rounds, const NullClock& null);

}  // namespace kernelpro
