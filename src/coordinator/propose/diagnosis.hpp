// What is known of a passed candidate's bottleneck: from what the judge measured, and from its
// profile where there is one.
#pragma once

#include "common/model/finding.hpp"
#include "common/model/node.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

[[nodiscard]] Diagnosis diagnose(const Timing& timing);

// The same with what a profile says on top.
[[nodiscard]] Diagnosis diagnose(const Timing& timing, const DiagnosisReport& profiled);

}  // namespace kernelpro
