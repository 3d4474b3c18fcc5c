#include "coordinator/propose/tool_belief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelpro {

namespace {

// Before there is a record, as if so many cases had come true to the letter.
constexpr double cases_of_faith = 4;
// A tool that promises little and is right by luck must not promise wonders.
constexpr double largest_share = 2;

double shrunk(const ToolRecord& record, double otherwise) {
  if (record.passed == 0 || record.log_predicted <= 0) {
    return otherwise;
  }
  const double seen = std::clamp(record.log_measured / record.log_predicted, 0.0, largest_share);
  const double cases = record.passed;
  return (cases * seen + cases_of_faith * otherwise) / (cases + cases_of_faith);
}

}  // namespace

ToolBelief belief_in(const std::string& tool, KernelClass kind, const std::string& device,
                     const std::vector<ToolRecord>& records) {
  ToolRecord all;
  ToolRecord alike;
  for (const ToolRecord& one : records) {
    if (one.tool == tool) {
      all.merge(one);
    }
    if (one.tool == tool && one.kind == kind && one.device == device) {
      alike.merge(one);
    }
  }
  return {shrunk(alike, shrunk(all, 1)), all.passed};
}

void correct_predictions(std::vector<Finding>& findings, KernelClass kind,
                         const std::string& device, const std::vector<ToolRecord>& records) {
  for (Finding& finding : findings) {
    const ToolBelief belief = belief_in(finding.tool, kind, device, records);
    if (belief.cases == 0 || finding.derived_gain > 0 || finding.predicted_gain <= 1) {
      continue;
    }
    finding.derived_gain = finding.predicted_gain;
    finding.predicted_gain = std::exp(belief.share * std::log(finding.derived_gain));
    finding.derivation += fmt::format(
        "; that is {:.2f}, and what the tool's findings gained in {} earlier {} makes "
        "it {:.2f}",
        finding.derived_gain, belief.cases, belief.cases == 1 ? "case" : "cases",
        finding.predicted_gain);
  }
  sort_by_gain(findings);
}

}  // namespace kernelpro
