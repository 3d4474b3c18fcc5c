// From what a defect costs to what removing it gains.
#pragma once

#include <string>

#include "worker/diagnose/tools/roofs.hpp"

namespace kernelpro {

struct Gain {
  double kernel = 1;  // factor for the kernel
  std::string text;   // how it came about
};

// Amdahl: `stalled` is the share of the kernel's time that goes with the waits, or the time at full
// roofs that the relief saves where that is more; but no less time than the fullest roof then
// needs.
[[nodiscard]] Gain gain_of(double stalled, const Roofs& loads, const Roofs& relief,
                           const Thresholds& limits);

// The same where the change only hides latencies: a kernel comes near its fullest roof by that, and
// does not reach it.
[[nodiscard]] Gain gain_by_hiding(double stalled, const Roofs& loads, const Roofs& relief,
                                  const Thresholds& limits);

// The same where instructions go and the data stays. They take `share` of all instructions, and
// `waits` of the time is for memory or other warps. What goes makes memory be asked faster and
// answer later, so as large a part of it comes back as waits; unless a unit of the multiprocessor
// is the limit, where its time goes.
[[nodiscard]] Gain gain_of_instructions(double share, double waits, const Roofs& loads,
                                        const Roofs& relief, const Thresholds& limits);

// How far a roof of this load is what limits a kernel, from 0 to 1.
[[nodiscard]] double is_limit(double load, const Thresholds& limits);

// The same for a part of the time alone, known exactly: no full roof saves more.
[[nodiscard]] Gain gain_of_time(double saved, const Roofs& loads, const Roofs& relief);

// The part of a kernel's time that is not its start and end. `most_active`: of the multiprocessor
// that worked longest.
[[nodiscard]] double scalable_part(double duration_ns, double most_active,
                                   const Thresholds& limits);

// The program's factor when the kernel that takes `share` of its time becomes faster by `kernel`.
[[nodiscard]] double program_gain(double kernel, double share);

}  // namespace kernelpro
