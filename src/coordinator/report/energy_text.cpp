#include "coordinator/report/energy_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "coordinator/report/table.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

std::string ratio_text(double ratio, const Interval& interval) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio, interval.low, interval.high);
}

std::string measured_text(double joules, const Interval& interval) {
  return fmt::format("{} [{}, {}]", joules_text(joules), joules_text(interval.low),
                     joules_text(interval.high));
}

std::string work_text(double joules) {
  return joules > 0 ? joules_text(joules) : "–";
}

void add_arm(Table& table, const std::string& shape, const std::string& name,
             const ArmEnergy& arm) {
  table.add({shape, name, measured_text(arm.joules, arm.joules_interval),
             measured_text(arm.net_joules, arm.net_interval), fmt::format("{:.0f} W", arm.watts),
             work_text(arm.joules_per_flop), work_text(arm.joules_per_byte),
             duration_text(arm.call_ns)});
}

std::string comparison_text(const Energy& energy) {
  switch (energy.comparison) {
    case EnergyComparison::less:
      return "it takes less";
    case EnergyComparison::more:
      return "it takes more";
    case EnergyComparison::same:
      break;
  }
  return fmt::format("no difference beyond {:.0f} %", 100 * energy_floor);
}

std::string circumstances_text(const Energy& energy) {
  std::string out;
  for (const auto& [name, value] : energy.circumstances) {
    out += fmt::format(", {} {:.0f}", name, value);
  }
  return out;
}

// For three digits in all.
int decimals(double value) {
  if (std::abs(value) >= 100) {
    return 0;
  }
  return std::abs(value) >= 10 ? 1 : 2;
}

}  // namespace

std::string joules_text(double joules) {
  static constexpr std::array<std::pair<double, const char*>, 6> units = {
      {{1, "J"}, {1e-3, "mJ"}, {1e-6, "µJ"}, {1e-9, "nJ"}, {1e-12, "pJ"}, {1e-15, "fJ"}}};
  const double size = std::abs(joules);
  for (const auto& [unit, name] : units) {
    if (size >= unit || unit == units.back().first) {
      const double value = joules / unit;
      return size > 0 ? fmt::format("{:.{}f} {}", value, decimals(value), name) : "0 J";
    }
  }
  return "–";
}

std::string energy_text(const Energy& energy) {
  Table table(
      {"shape", "energy", "gross a call", "net a call", "power", "a flop", "a byte", "call, warm"});
  std::string idle;
  for (const ShapeEnergy& shape : energy.shapes) {
    add_arm(table, axes_text(shape.shape), "candidate", shape.candidate);
    add_arm(table, "", "incumbent", shape.incumbent);
    idle += fmt::format("{}{:.0f} W", idle.empty() ? "" : ", ", shape.idle_watts);
  }
  std::string out =
      fmt::format("  energy: {} of the incumbent's, {} (by {}, idle {}{})\n",
                  ratio_text(energy.ratio, energy.ratio_interval), comparison_text(energy),
                  energy.meter, idle, circumstances_text(energy));
  for (const std::string& remark : energy.remarks) {
    out += "  energy remark: " + remark + "\n";
  }
  return out + table.text();
}

std::string ranking_text(const Run& run) {
  if (run.ranking.empty()) {
    return "";
  }
  Table table({"place", "node", "joules a call", "energy over the baseline's", "speed-up", "J × s",
               "as fast as the fastest", "holds"});
  int place = 0;
  for (const Finalist& one : run.ranking) {
    table.add({std::to_string(++place), std::to_string(one.node), joules_text(one.joules),
               ratio_text(one.energy_ratio, one.energy_interval),
               (one.at_least ? "at least " : "") + ratio_text(one.speedup, one.speedup_interval),
               fmt::format("{:.3f}", edp_ratio(one)), one.matched_speed ? "yes" : "no",
               one.holds ? "yes" : "no"});
  }
  return fmt::format("finalists by {}\n", name_of(run.settings.objective)) + table.text();
}

}  // namespace kernelpro
