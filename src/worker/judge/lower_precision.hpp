// Results that miss the contract's bounds: are they right in a lower precision? Only if their
// errors look like rounding to it (rounding.hpp).
#pragma once

#include <string>
#include <vector>

#include "worker/judge/reference.hpp"
#include "worker/judge/selection_check.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

struct LowerQuestion {
  SetInputs set;
  Arm& baseline;  // attached to the stand's incumbent side: run on rounded inputs, it is the twin
  const Reference& reference;
  const std::vector<TensorError>& errors;  // of the candidate on that set
  const std::vector<std::string>& allowed;
};

struct LowerAnswer {
  ToleranceResult result;
  std::vector<double> bounds;  // by output: what its errors may be in that precision; 0: contract
};

// The loosest bound of these precisions, 8 u of each; 0 for none.
[[nodiscard]] double loosest_bound(const std::vector<std::string>& precisions);

// Whether any lower precision could explain the outputs that `result` says are missed.
[[nodiscard]] bool may_be_lower(const Task& task, const std::vector<TensorError>& errors,
                                const ToleranceResult& result);

// Passes a result in a lower precision that is allowed. One that is not allowed fails by the rule
// `precision`; one whose errors are no rounding is incorrect, and the evidence says why. Afterwards
// the inputs are as they were drawn, and of the incumbent's outputs those of the set alone are
// left. An error is ours: the baseline failed.
[[nodiscard]] Result<LowerAnswer> judge_lower_precision(const LowerQuestion& question,
                                                        ToleranceResult result);

}  // namespace kernelpro
