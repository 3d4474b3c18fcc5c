// Candidate against incumbent: screen, rounds in mirrored order, clocks, comparison.
#pragma once

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
  double solo_ns = 0;      // the baseline's median call, alone
};

struct TimingInputs {
  const Task& task;
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
[[nodiscard]] Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape);

// Rounds of the empty candidate, in nanoseconds of our clock.
struct NullClock {
  double median_ns = 0;
  double spread_ns = 0;  // 5th to 95th percentile
};

[[nodiscard]] NullClock summarize_null(const std::vector<double>& walls_ns);

// Whether claims are believable: by how much our clock exceeds them, as a fraction of the round,
// and how much of that is noise.
struct ClockCheck {
  double gap = 0;
  double noise = 0;
  [[nodiscard]] bool agrees() const { return gap <= noise; }
};

[[nodiscard]] ClockCheck check_clock(const std::vector<double>& walls_ns,
                                     const std::vector<double>& claims_ns, const NullClock& null);

}  // namespace kernelpro
