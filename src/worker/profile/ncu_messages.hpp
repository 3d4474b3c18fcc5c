// What ncu's text says went wrong, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

enum class NcuFailureKind {
  counters_denied,  // this user may not read the GPU's counters
  unknown_metric,   // ncu or this GPU does not have a metric: ask again without it
  counters_busy,    // another profiler holds them
  unsupported_gpu,  // ncu and the GPU or its driver do not fit together
  locked,           // ncu's own lock file belongs to another user
  program_failed,   // the profiled program crashed or gave an error
  no_kernels,       // it ran, and launched none that was asked for
  timed_out,
  other,  // the error has ncu's own words
};

struct NcuFailure {
  NcuFailureKind kind = NcuFailureKind::other;
  Error error;
  std::vector<std::string> metrics;  // of unknown_metric: those that ncu refused
};

// For an output of ncu that holds no result.
[[nodiscard]] NcuFailure explain_ncu_failure(std::string_view output);

// Metrics that ncu says it does not know or cannot read here. They are named as they were asked
// for; one that was asked for without its suffix is given without.
[[nodiscard]] std::vector<std::string> refused_metrics(std::string_view output);

}  // namespace kernelpro
