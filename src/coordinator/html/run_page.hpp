// A run as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/html/roofline_data.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro::html {

struct RunPage {
  RunReport report;
  std::vector<PathStep> path;  // from the baseline to the best, those that have certificates
  std::optional<std::string> baseline_source;
  std::optional<std::string> best_source;
  std::vector<LlmCall> calls;  // empty: no model was asked
};

[[nodiscard]] std::string run_page(const RunPage& run);

}  // namespace kernelpro::html
