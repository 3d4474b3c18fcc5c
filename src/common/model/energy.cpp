#include "common/model/energy.hpp"

namespace kernelpro {

std::string_view name_of(EnergyComparison comparison) {
  switch (comparison) {
    case EnergyComparison::less:
      return "less";
    case EnergyComparison::same:
      return "same";
    case EnergyComparison::more:
      return "more";
  }
  return "same";
}

EnergyComparison compare_energy(const Interval& ratio) {
  if (ratio.high < 1 / (1 + energy_floor)) {
    return EnergyComparison::less;
  }
  return ratio.low > 1 + energy_floor ? EnergyComparison::more : EnergyComparison::same;
}

}  // namespace kernelpro
