// What a speed-up seems to be without the other programs of a busy machine: for a search to go by.
// No claim stands on it.
#pragma once

#include <vector>

#include "worker/judge/arm.hpp"

namespace kernelpro {

// A round that took `took_ns`, without what its threads waited for a processor, and no shorter than
// `threads` of them at work all the time.
[[nodiscard]] double undisturbed_ns(const Round& round, double took_ns, int threads);

// One arm's rounds and how long each of them took.
struct TimedRounds {
  const std::vector<Round>& rounds;
  const std::vector<double>& took_ns;
};

// The median over pairs of incumbent over candidate, each undisturbed. 0 without rounds.
[[nodiscard]] double likely_speedup(const TimedRounds& candidate, const TimedRounds& incumbent,
                                    int threads);

}  // namespace kernelpro
