// How the best grew over the evaluations of a run.
#pragma once

#include "coordinator/html/markup.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro::html {

// A mark for each evaluation: at its speed-up where it passed, at the foot where it failed; over
// them the best so far as a line. Empty when nothing was evaluated.
[[nodiscard]] Markup progress_picture(const RunReport& report);

}  // namespace kernelpro::html
