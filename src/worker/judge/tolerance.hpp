// When an error is small enough, and what it means when it is not.
#pragma once

#include <string>
#include <vector>

#include "common/model/task.hpp"
#include "worker/judge/failure.hpp"
#include "worker/tensor/compare.hpp"
#include "worker/tensor/draw.hpp"

namespace kernelpro {

// max(baseline_factor * e(baseline), rounding_factor * rounding_of_sum(K)) for output `index`;
// whole numbers that are no index have the bound 0.
[[nodiscard]] double error_bound(const Task& task, const Axes& axes, std::size_t index,
                                 double baseline_error);

// What two implementations may differ by where neither is the truth: each errs by what rounding
// explains. Terms that are all alike are rounded alike, and then errors grow with K, not its root.
[[nodiscard]] double difference_bound(const Task& task, const Axes& axes, std::size_t index,
                                      Distribution distribution);

// What output `index` moves by at most, in any task of sums and products, when add_condition()
// moves the inputs. So much says nothing of a task; what is beyond it does.
[[nodiscard]] double well_conditioned(const Task& task, const Axes& axes, std::size_t index);

// How a failure says that a call did not write all of an output.
[[nodiscard]] std::string never_written(const TensorPlan& tensor, std::int64_t elements);

struct ToleranceResult {
  bool passed = true;
  std::string precision = "contract";  // or the lower one it passed at
  Failure failure;                     // when it did not pass
  std::vector<std::size_t> missed;     // the outputs that miss their bounds
};

// Judges the errors of all outputs.
[[nodiscard]] ToleranceResult judge_errors(const BufferPlan& plan,
                                           const std::vector<TensorError>& errors,
                                           const std::vector<double>& bounds);

// The least precise of two: "contract", or a lower precision.
[[nodiscard]] std::string less_precise(const std::string& first, const std::string& second);

}  // namespace kernelpro
