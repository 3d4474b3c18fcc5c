// All that was recorded of one process, in any order and on any clock, made into traces.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/model/trace.hpp"

namespace kernelpro {

// Stands for a time that was not recorded.
inline constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();
// Times beyond this (36 years) are not believed, so that they can be added without care.
inline constexpr std::int64_t latest_time = std::int64_t{1} << 60U;

struct Recording {
  std::string origin;
  std::string architecture;
  std::vector<TracedLaunch> launches;
  std::vector<TracedCopy> copies;
  std::vector<TracedFill> fills;
  std::vector<TracedCall> calls;  // those inside of others too
  std::string problem;            // why it is not complete; empty: it is
};

// One trace for each part between a start and a stop of profiling; the work that belongs to it is
// what was asked for in between. Without such calls, one trace of everything, from the first work
// of the GPU to the last.
[[nodiscard]] std::vector<Trace> traces_of(Recording recording);

// One trace of everything, whether there are such calls or not.
[[nodiscard]] Trace whole_trace_of(Recording recording);

}  // namespace kernelpro
