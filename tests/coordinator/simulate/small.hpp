// Landscapes for tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "coordinator/simulate/landscape.hpp"

namespace kernelpro::testing {

inline std::vector<TuneParameter> small_parameters(std::size_t count, int values) {
  std::vector<TuneParameter> all;
  for (std::size_t i = 0; i < count; ++i) {
    TuneParameter one{"P" + std::to_string(i), {}, true};
    for (int v = 0; v < values; ++v) {
      one.values.push_back(std::to_string(v));
    }
    all.push_back(std::move(one));
  }
  return all;
}

// A bowl around the middle; every seventh program fails. Rounds vary by a percent.
inline Landscape bowl(const std::string& name, std::size_t axes = 3, int values = 6) {
  const TuneSpace space = TuneSpace::make(small_parameters(axes, values)).value();
  std::vector<RecordedAt> programs;
  for (Code code = 0; code < space.size(); ++code) {
    RecordedAt one;
    double time = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      one.values.push_back(space.value(code, axis));
      time += std::pow(static_cast<double>(one.values.back()) - 2, 2);
    }
    one.recorded.outcome = code % 7 == 6 ? Outcome::launch_failed : Outcome::passed;
    for (int round = 0; round < 8 && one.recorded.outcome == Outcome::passed; ++round) {
      one.recorded.rounds.push_back(time * (1 + 0.002 * round));
    }
    programs.push_back(std::move(one));
  }
  return make_landscape(name, small_parameters(axes, values), std::move(programs)).value();
}

}  // namespace kernelpro::testing
