// Searches against each other on recorded landscapes, at equal numbers of evaluations.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/simulate/any_landscape.hpp"

namespace kernelpro {

struct SimulateSettings {
  std::vector<std::string> searches;  // the first is what the others are compared with
  int seeds = 50;
  std::uint64_t first_seed = 1;
  std::vector<int> budgets = {30, 60, 120, 240};  // ascending
  int in_flight = 1;
};

// How a search fares on one landscape, means over the seeds.
struct Fared {
  std::string search;
  std::vector<double> curve;   // share of the optimum's speed after 1, 2, ... of the last budget
  std::vector<double> shares;  // of a run with each budget: a search may plan by what is left
  // Evaluations to 90, 95 and 99 % of the optimum's speed; unreached by the last budget counts
  // twice that.
  std::vector<double> needed;
  // By permutation of the seeds against the first search, for each budget, Holm-corrected over all
  // comparisons of the simulation; 1 for the first search itself.
  std::vector<double> p_values;
};

struct FaredOn {
  std::string landscape;
  std::size_t programs = 0;        // 0: every seed is another tree, and trees have no end
  double uniform_draws_to_95 = 0;  // 0 where there are no programs to draw from
  bool counted = true;  // false: uniform draws reach 95 % within 20, so nothing can be learned
  std::vector<Fared> searches;
};

// Geometric means over landscapes.
struct Overall {
  std::string search;
  std::vector<double> shares;
  std::vector<double> needed;
};

struct Simulation {
  SimulateSettings settings;
  std::vector<FaredOn> landscapes;
  std::vector<Overall> counted;
  std::vector<Overall> all;
  std::uint64_t evaluations = 0;
  double seconds = 0;  // of one core, for all that
};

inline constexpr double levels_needed[] = {0.90, 0.95, 0.99};

// Errors: an unknown search, budgets that do not ascend, nothing to simulate, a stop.
[[nodiscard]] Result<Simulation> simulate(const SimulateSettings& settings,
                                          const std::vector<AnyLandscape>& landscapes,
                                          std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const Simulation& simulation);
[[nodiscard]] std::string simulation_text(const Simulation& simulation);
// The curves of all searches over the counted landscapes, as a picture that stands alone.
[[nodiscard]] std::string simulation_svg(const Simulation& simulation);

}  // namespace kernelpro
