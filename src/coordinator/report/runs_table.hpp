// Several runs side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/certificate.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro {

struct RunRow {
  RunReport report;
  std::optional<Certificate> best;  // of the best node, against the baseline
};

// One line a run: task, baseline, flags only, best, speed-up with interval, share of the bound,
// verdicts. Times are those of the first timed shape.
[[nodiscard]] std::string runs_table(const std::vector<RunRow>& rows);

}  // namespace kernelpro
