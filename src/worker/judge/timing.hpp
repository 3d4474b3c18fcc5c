// Candidate against incumbent: screen, rounds in mirrored order, clocks, comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/ceilings.hpp"
#include "worker/judge/rounds.hpp"
#include "worker/judge/single_calls.hpp"

namespace kernelpro {

// What is known of a timed shape before any candidate comes: made once when the task is opened.
struct TimedShape {
  Axes axes;
  RoundShape rounds;
  int pairs = 10;                   // how many pairs of rounds a comparison gets
  double noise_floor = 0;           // two processes of the baseline against each other
  int noise_tries = 0;              // how often that was measured; the least counts
  double waiting = 0;               // the share of those rounds spent waiting for a processor
  double solo_ns = 0;               // the baseline's median call, alone
  std::vector<Round> empty_rounds;  // of the empty candidate, while there was no other
};

struct TimingInputs {
  const Task& task;
  Ground& ground;
  Oracle& oracle;
  const JudgeSettings& settings;
  const Ceilings& ceilings;
  Arm& candidate;
  Arm& incumbent;
  Arm* baseline;  // where it is right and the incumbent another candidate; else null
  Arm& null;      // an empty candidate: what a round costs without work
  Key key;
  // By output: within how much two right outputs agree at that shape.
  std::vector<double> bounds;
  // How much further from the truth it may be at the lower precision it was accepted at; empty:
  // none.
  std::vector<double> lower_bounds;
  std::vector<std::string> allowed_precisions;
  bool screen = true;  // timing ends where it is clearly slower
  bool brief = false;  // few pairs, and none more for what is in doubt
};

struct TimingOutcome {
  std::optional<Failure> failure;  // the candidate's
  ShapeTiming timing;
  std::vector<std::string> suspicions;
  std::vector<std::string> remarks;
  // Of calls by themselves, where calls are enqueued and rounds have several; one entry or none.
  std::vector<SingleSaving> savings;
  bool busy = false;                   // other programs disturbed the incumbent's rounds
  std::string precision = "contract";  // or the lower one that some call was accepted at
};

// How many pairs a brief timing has.
[[nodiscard]] constexpr int brief_pairs(int pairs) {
  constexpr int most = 10;
  return std::min((pairs + 1) / 2, most);
}

// Times the candidate at one shape. An error is ours: the incumbent or the oracle failed.
// `rounds` are the shape's buffers, which stay from one evaluation to the next.
[[nodiscard]] Result<TimingOutcome> time_shape(const TimingInputs& in, const TimedShape& shape,
                                               Rounds& rounds);

// Times nothing but calls by themselves, of other processes of both arms: what they save, or a
// failure of the candidate's. `draw`: which processes these are, from 1 on; `incumbent_ns`: as
// saving_of() wants it.
[[nodiscard]] Result<TimingOutcome> time_singles(const TimingInputs& in, const TimedShape& shape,
                                                 Rounds& rounds, double incumbent_ns, int draw);

// The median call of an incumbent while no candidate's process is there, over a few rounds.
[[nodiscard]] Result<double> time_alone(Arm& incumbent, const TimedShape& shape, Rounds& rounds,
                                        const Key& key, std::int64_t timeout_ms);

// Calls by themselves of the incumbent, each with one of the empty candidate behind it, while no
// candidate's process is there. `gated`: as in SingleSaving.
[[nodiscard]] Result<SinglesAlone> time_singles_alone(Arm& incumbent, Arm& null,
                                                      const TimedShape& shape, Rounds& rounds,
                                                      const Key& key, bool gated,
                                                      std::int64_t timeout_ms);

// What a candidate can do to the other arm gains it nothing: the incumbent's time counts as the
// smaller of in pairs and `alone_ns`, where they differ by more than the budget allows.
void count_incumbent_at_its_best(ShapeTiming& timing, double alone_ns);

// The candidate's time counts as it was `elsewhere`, beside another rival, where it was longer
// there beyond both budgets. Returns how many times as long it takes by that; 1: nothing changed.
double count_candidate_at_its_worst(ShapeTiming& timing, const ShapeTiming& elsewhere);

// Rounds of the empty candidate: what our clock shows beyond its claim, in nanoseconds.
struct NullClock {
  double median_ns = 0;
  double spread_ns = 0;  // between the quartiles
  double delay_ns = 0;   // median wait for a processor in the hand-over itself
  double doubt_ns = 0;   // what the ground says of its hand-over
};

[[nodiscard]] NullClock summarize_null(const std::vector<Round>& rounds, double doubt_ns = 0);

// How long a round must be for the hand-over's noise to be a small share of it: on average, or in
// each single round, where long rounds cost little.
[[nodiscard]] double least_round_ns(const NullClock& null, bool each);

// The claims of one arm's rounds against our clock.
struct ClockCheck {
  // The share of our clock that the claims leave out and waiting for a processor does not explain:
  // lower quartile over the rounds.
  double gap = 0;
  double gap_ns = 0;     // the same in nanoseconds of a round
  double noise = 0;      // the share that the hand-over explains on this machine
  double tolerance = 0;  // the share that claims may leave out on average and are believed
  double empty = 0;      // the spread of the empty rounds as a share of these
  // What is subtracted for handing over, as a share of these, beyond what every round is long
  // enough for. Threads of a candidate could work in it.
  double hand_over = 0;
  double waiting = 0;  // the share of all rounds spent waiting for a processor
  // Nanoseconds of each round that count: the claim, or our clock: in a round where it exceeds the
  // claim by more than hand-overs differ, and in all where it does so by the tolerance on average.
  // So a lie gains next to nothing, proven or not.
  std::vector<double> believed_ns;
  // The least that each round can have taken: the claim, or our clock where that is less.
  std::vector<double> least_ns;
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

// `live`: the empty rounds beside these; a candidate could have slowed them, which would make its
// own time smaller. `clean`: those while there was no candidate. What is believed is by the smaller
// of the two, an accusation by the live ones.
[[nodiscard]] ClockCheck check_clock(const std::vector<Round>& rounds, const NullClock& live,
                                     const NullClock& clean);

}  // namespace kernelpro
