// What the rounds of one comparison at one shape showed, and what follows from it.
#pragma once

#include <array>
#include <vector>

#include "worker/judge/timing.hpp"

namespace kernelpro {

// Gathered round by round.
struct RoundLog {
  std::vector<double> calls;               // of each recorded pair
  std::vector<bool> settled;               // of each recorded pair
  std::array<std::vector<Round>, 2> arms;  // of each recorded pair, by side
  std::vector<Round> nulls;                // of the empty candidate, beside the pairs
  std::vector<SinglePair> singles;

  void record(const Pair& pair);
};

// How many pairs of one call a comparison has: there is no other call to work on meanwhile.
[[nodiscard]] int wanted_singles(const TimingInputs& in, const TimedShape& shape);

// Whether caches, and so many threads that are woken and stopped, explain that a call takes
// `longer` times as long by itself as the `call_ns` it takes in a round.
[[nodiscard]] bool overlap_is_explained(double longer, double call_ns, int threads);

// Whether far more time passed in single calls behind a gate than the candidate computed.
[[nodiscard]] bool turns_come_late(const RoundLog& log);

// What chance did is gone with more pairs. What the interval says does not decide, so going on
// favors nobody.
struct Doubts {
  bool wide = false;    // the interval is wider than what it has to exceed
  bool uneven = false;  // some rounds of the candidate are so slow that their average would count
};

[[nodiscard]] Doubts doubts_of(const TimingInputs& in, const TimedShape& shape,
                               const RoundLog& log);

// Fills `out.timing` from the rounds, with all that is said about them. `out.timing.screened` and
// `dropped_pairs` are known before.
void summarize(const TimingInputs& in, const TimedShape& shape, const RoundLog& log,
               TimingOutcome& out);

}  // namespace kernelpro
