// What programs and agents are told of judgments, bottlenecks and runs: schemas/mcp_verdict.json
// and its like.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/model/certificate.hpp"
#include "common/model/finding.hpp"
#include "common/model/node.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro {

// Five digits, which are more than any measurement has; 0 where it is no number.
[[nodiscard]] double rounded(double value);

[[nodiscard]] nlohmann::json verdict_view(const Certificate& certificate);
// The first five, largest gain first.
[[nodiscard]] nlohmann::json findings_view(const std::vector<Finding>& findings);
// The class, with the moves of that backend against it.
[[nodiscard]] nlohmann::json diagnosis_view(const Diagnosis& diagnosis, Backend backend);
[[nodiscard]] nlohmann::json run_view(const RunReport& report);

}  // namespace kernelpro
