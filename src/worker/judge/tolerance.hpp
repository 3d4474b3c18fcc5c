// When an error is small enough, and what it means when it is not.
#pragma once

#include <string>
#include <vector>

#include "common/model/task.hpp"
#include "worker/judge/failure.hpp"
#include "worker/tensor/compare.hpp"

namespace kernelpro {

// max(baseline_factor * e(baseline), rounding_factor * u * sqrt(K)) for output `index`; whole
// numbers that are no index have the bound 0.
[[nodiscard]] double error_bound(const Task& task, const Axes& axes, std::size_t index,
                                 double baseline_error);

// The bound of a lower precision: 8 u of that type, for products of rounded values summed in the
// contract's type. 0 for an unknown name.
[[nodiscard]] double lower_precision_bound(const std::string& precision);

struct ToleranceResult {
  bool passed = true;
  std::string precision = "contract";  // or the lower one it passed at
  Failure failure;                     // when it did not pass
};

// Judges the errors of all outputs. `allowed`: lower precisions that may pass.
[[nodiscard]] ToleranceResult judge_errors(const Task& task, const BufferPlan& plan,
                                           const std::vector<TensorError>& errors,
                                           const std::vector<double>& bounds,
                                           const std::vector<std::string>& allowed);

}  // namespace kernelpro
