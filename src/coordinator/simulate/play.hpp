// One search on one landscape: the search classes of `optimize` and `tune`, answered by a replay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/simulate/any_landscape.hpp"
#include "coordinator/simulate/replay_judge.hpp"

namespace kernelpro {

// A search of `optimize`, as "greedy" or "mcts:paper"; or one of configurations one by one:
// "uniform", "tuner". An unknown name is an error that lists the known ones, and so is one that
// cannot be played there.
[[nodiscard]] Status check_player(const std::string& name, const AnyLandscape& landscape);

struct PlaySettings {
  std::string player;
  std::uint64_t seed = 1;
  int evaluations = 0;
  int in_flight = 1;  // proposals made before the result of the first of them is told
};

// After each evaluation the share of the optimum's speed that the best so far has: the best by the
// times that the search saw, at the time that it is scored by. A failure is an evaluation like any
// other, and so is the start. Shorter than asked where the search has nothing left to try.
[[nodiscard]] std::vector<double> play(const PlaySettings& settings, const Landscape& landscape,
                                       const Scores& scores);
[[nodiscard]] std::vector<double> play(const PlaySettings& settings,
                                       const AgentLandscape& landscape);

}  // namespace kernelpro
