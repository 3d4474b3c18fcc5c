#include "common/model/objective.hpp"

#include <algorithm>
#include <tuple>

#include "common/model/energy.hpp"

namespace kernelpro {

namespace {

// A ratio of time times energy whose pessimistic end is below this is no accident.
constexpr double clearly_less = 1 / (1 + energy_floor);

bool holds(const Finalist& one, Objective objective) {
  const bool less = compare_energy(one.energy_interval) == EnergyComparison::less;
  switch (objective) {
    case Objective::energy:
      return less;
    case Objective::edp:
      return one.speedup_interval.low > 0 &&
             one.energy_interval.high / one.speedup_interval.low < clearly_less;
    case Objective::time:
    case Objective::time_then_energy:
      return one.faster;
  }
  return false;
}

// Less is better.
double cost(const Finalist& one, Objective objective) {
  switch (objective) {
    case Objective::energy:
      return one.energy_ratio;
    case Objective::edp:
      return edp_ratio(one);
    case Objective::time:
      return -one.speedup;
    case Objective::time_then_energy:
      return one.matched_speed ? one.energy_ratio : -one.speedup;
  }
  return 0;
}

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::time:
      return "time";
    case Objective::energy:
      return "energy";
    case Objective::time_then_energy:
      return "time-then-energy";
    case Objective::edp:
      return "edp";
  }
  return "time";
}

std::optional<Objective> parse_objective(std::string_view name) {
  for (const Objective one :
       {Objective::time, Objective::energy, Objective::time_then_energy, Objective::edp}) {
    if (name_of(one) == name) {
      return one;
    }
  }
  return std::nullopt;
}

double edp_ratio(const Finalist& finalist) {
  return finalist.speedup > 0 ? finalist.energy_ratio / finalist.speedup : 0;
}

std::vector<Finalist> rank_finalists(std::vector<Finalist> finalists, Objective objective) {
  const auto fastest =
      std::max_element(finalists.begin(), finalists.end(),
                       [](const auto& a, const auto& b) { return a.speedup < b.speedup; });
  if (fastest == finalists.end()) {
    return finalists;
  }
  const Interval best = fastest->speedup_interval;
  for (Finalist& one : finalists) {
    one.matched_speed = overlap(one.speedup_interval, best);
    one.holds = holds(one, objective);
  }
  const bool by_match = objective == Objective::time_then_energy;
  const auto place = [&](const Finalist& one) {
    return std::tuple(by_match && !one.matched_speed, cost(one, objective), one.node);
  };
  std::sort(finalists.begin(), finalists.end(),
            [&](const Finalist& a, const Finalist& b) { return place(a) < place(b); });
  return finalists;
}

}  // namespace kernelpro
