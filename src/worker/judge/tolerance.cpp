#include "worker/judge/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "worker/tensor/lower.hpp"

namespace kernelpro {

namespace {

std::string index_text(const TensorPlan& tensor, std::int64_t flat) {
  std::string text;
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(tensor.shape[axis], 1);
    text = std::to_string(flat % extent) + (text.empty() ? "" : ", ") + text;
    flat /= extent;
  }
  return tensor.name + "[" + text + "]";
}

Failure wrong_values(const TensorPlan& tensor, const TensorError& error, double bound) {
  Failure failure;
  failure.outcome = Outcome::incorrect;
  const std::string where = index_text(tensor, error.worst);
  if (error.poisoned > 0) {
    failure.rule = "poison";
    failure.summary = fmt::format("{} of {} elements of {} were never written", error.poisoned,
                                  tensor.elements, tensor.name);
  } else {
    failure.summary =
        fmt::format("{} is {:.9g}, expected {:.9g}", where, error.actual, error.expected);
  }
  failure.evidence.push_back(
      fmt::format("largest error {:.3g} at {}, bound {:.3g}", error.error, where, bound));
  return failure;
}

}  // namespace

double error_bound(const Task& task, const Axes& axes, std::size_t index, double baseline_error) {
  const TensorSpec& output = task.outputs[index];
  if (!is_floating(output.dtype) && output.selects.empty()) {
    return 0;
  }
  const DType type = is_floating(output.dtype) ? output.dtype : contract_type(task);
  const Result<double> length = task.reduction.evaluate(axes);
  const double terms = length ? std::max(*length, 1.0) : 1.0;
  return std::max(task.tolerance.baseline_factor * baseline_error,
                  task.tolerance.rounding_factor * rounding_of_sum(type, terms));
}

ToleranceResult judge_errors(const BufferPlan& plan, const std::vector<TensorError>& errors,
                             const std::vector<double>& bounds) {
  ToleranceResult result;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].error <= bounds[i]) {
      continue;
    }
    if (result.passed) {
      result.failure = wrong_values(plan.tensors[plan.input_count + i], errors[i], bounds[i]);
    }
    result.passed = false;
    result.missed.push_back(i);
  }
  return result;
}

std::string less_precise(const std::string& first, const std::string& second) {
  for (const Lower lower : {Lower::bf16, Lower::f16, Lower::tf32}) {
    for (const std::string& one : {first, second}) {
      if (one == name_of(lower)) {
        return one;
      }
    }
  }
  return first;
}

}  // namespace kernelpro
