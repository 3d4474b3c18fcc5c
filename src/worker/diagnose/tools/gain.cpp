#include "worker/diagnose/tools/gain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

namespace {

// Nothing becomes more than a hundred times faster on the word of a sample.
constexpr double least_time = 0.01;

}  // namespace

Gain gain_of_time(double saved, const Roofs& loads, const Roofs& relief) {
  const double wanted = std::clamp(1 - saved, least_time, 1.0);
  const FullestRoof roof = fullest_after(loads, relief);
  const double left = std::clamp(std::max(wanted, roof.load), least_time, 1.0);
  std::string text =
      fmt::format("{:.0f} % of the kernel's time goes, so 1 / {:.2f}", 100 * (1 - wanted), wanted);
  if (roof.load > wanted) {
    text += fmt::format(", but what is left for {} takes {:.0f} % of it: 1 / {:.2f}", roof.name,
                        100 * roof.load, left);
  }
  return {1 / left, text + fmt::format(" = {:.2f}", 1 / left)};
}

Gain gain_of(double stalled, const Roofs& loads, const Roofs& relief, const Thresholds& limits) {
  const double at_roof = saved_at_full_roofs(loads, relief, limits.full_roof);
  return gain_of_time(std::max(stalled, at_roof), loads, relief);
}

Gain gain_by_hiding(double stalled, const Roofs& loads, const Roofs& relief,
                    const Thresholds& limits) {
  return gain_of(stalled, scaled(loads, 1 / limits.hidden_reach), relief, limits);
}

double is_limit(double load, const Thresholds& limits) {
  return std::clamp((load - limits.full_roof) / (limits.hidden_reach - limits.full_roof), 0.0, 1.0);
}

Gain gain_of_instructions(double share, double waits, const Roofs& loads, const Roofs& relief,
                          const Thresholds& limits) {
  const double stalled = share * (1 - waits) * (1 - waits);
  double saved = stalled;
  for (double Roofs::* unit : {&Roofs::issue, &Roofs::pipes, &Roofs::special}) {
    const double at_unit = loads.*unit * relief.*unit;
    saved = std::max(saved, stalled + is_limit(loads.*unit, limits) * (at_unit - stalled));
  }
  return gain_of_time(saved, loads, relief);
}

double scalable_part(double duration_ns, double most_active, const Thresholds& limits) {
  const double fixed = std::max(limits.fixed_kernel_ns, (1 - most_active) * duration_ns);
  return duration_ns > 0 ? std::max(0.0, 1 - fixed / duration_ns) : 0;
}

double program_gain(double kernel, double share) {
  const double part = std::clamp(share, 0.0, 1.0);
  return kernel <= 1 ? 1 : 1 / (1 - part * (1 - 1 / kernel));
}

}  // namespace kernelpro
