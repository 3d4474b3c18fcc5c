// What a run looks for, and how its finalists did by that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/interval.hpp"

namespace kernelpro {

// time: the fastest. energy: the fewest joules a call. time_then_energy: the fewest joules among
// those that are as fast as the fastest. edp: the least product of joules and seconds.
enum class Objective { time, energy, time_then_energy, edp };

[[nodiscard]] std::string_view name_of(Objective objective);
[[nodiscard]] std::optional<Objective> parse_objective(std::string_view name);

// A node whose energy was measured at the end of its run. Everything is against the baseline, in
// one and the same evaluation; energy is gross.
struct Finalist {
  std::int64_t node = 0;
  double speedup = 0;
  Interval speedup_interval;
  bool at_least = false;    // the truth is at least that speed-up
  bool faster = false;      // than the baseline, beyond its noise floor
  double energy_ratio = 1;  // its joules over the baseline's
  Interval energy_interval;
  double joules = 0;           // of a call at the first timed shape
  bool matched_speed = false;  // its interval overlaps with that of the fastest finalist
  bool holds = false;          // by the objective it is better than the baseline, beyond noise
};

// Its joules times seconds over the baseline's.
[[nodiscard]] double edp_ratio(const Finalist& finalist);

// Whether any energy has to be measured.
[[nodiscard]] constexpr bool needs_energy(Objective objective) {
  return objective != Objective::time;
}

// The best first; fills in matched_speed and holds. Of equals the older node.
[[nodiscard]] std::vector<Finalist> rank_finalists(std::vector<Finalist> finalists,
                                                   Objective objective);

}  // namespace kernelpro
