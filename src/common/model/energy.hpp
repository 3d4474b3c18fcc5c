// What calls cost in joules: candidate against incumbent, by the device's own energy counter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/formula.hpp"
#include "common/model/interval.hpp"

namespace kernelpro {

enum class EnergyComparison { less, same, more };

[[nodiscard]] std::string_view name_of(EnergyComparison comparison);

// Smaller differences are not claimed: what one kernel, measured several times, may spread by.
inline constexpr double energy_floor = 0.02;

// `ratio`: candidate over incumbent. less: its upper end is below 1/(1 + floor); more: its lower
// end is above 1 + floor.
[[nodiscard]] EnergyComparison compare_energy(const Interval& ratio);

// From one step of the counter to another, while one thing ran.
struct EnergyWindow {
  double joules = 0;        // between the two steps
  double seconds = 0;       // between the two steps
  int steps = 0;            // that the counter made meanwhile
  std::int64_t calls = 0;   // made meanwhile and just around it; 0: idle
  double call_seconds = 0;  // mean time of these, what lies between their batches included
};

// Gross is all that the device took; net is what it took beyond its idling.
struct ArmEnergy {
  std::vector<EnergyWindow> windows;
  double joules = 0;  // of a call, gross: median over the windows
  Interval joules_interval;
  double net_joules = 0;
  Interval net_interval;
  double watts = 0;            // gross, mean over the windows
  double call_ns = 0;          // median of the windows' mean times
  double joules_per_flop = 0;  // gross, of the task's declared work; 0: it declares none
  double joules_per_byte = 0;
};

struct ShapeEnergy {
  Axes shape;
  ArmEnergy candidate;
  ArmEnergy incumbent;
  std::vector<EnergyWindow> idle;
  double idle_watts = 0;
  double ratio = 1;  // joules of a call, candidate over incumbent, from windows side by side
  Interval ratio_interval;
  double net_ratio = 1;
  Interval net_ratio_interval;
};

struct Energy {
  std::string meter;                            // which counter
  std::map<std::string, double> circumstances;  // "power_limit_watts", "gpu_sm_mhz" … as known
  std::vector<ShapeEnergy> shapes;
  double ratio = 1;  // gross, geometric mean over the shapes
  Interval ratio_interval;
  EnergyComparison comparison = EnergyComparison::same;
  std::vector<std::string> remarks;  // what to know before trusting it
};

}  // namespace kernelpro
