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

bool is_approximate(const TensorSpec& output) {
  return is_floating(output.dtype) || !output.selects.empty();
}

// The type in which an output, or what an index selects, was rounded.
DType rounded_type(const Task& task, std::size_t index) {
  const DType type = task.outputs[index].dtype;
  return is_floating(type) ? type : contract_type(task);
}

double terms_of(const Task& task, const Axes& axes) {
  const Result<double> length = task.reduction.evaluate(axes);
  return length ? std::max(*length, 1.0) : 1.0;
}

Failure wrong_values(const TensorPlan& tensor, const TensorError& error, double bound) {
  Failure failure;
  failure.outcome = Outcome::incorrect;
  const std::string where = index_text(tensor, error.worst);
  if (error.poisoned > 0) {
    failure.rule = "poison";
    failure.summary = never_written(tensor, error.poisoned);
  } else {
    failure.summary =
        fmt::format("{} is {:.9g}, expected {:.9g}", where, error.actual, error.expected);
  }
  failure.evidence.push_back(
      fmt::format("largest error {:.3g} at {}, bound {:.3g}", error.error, where, bound));
  return failure;
}

}  // namespace

std::string never_written(const TensorPlan& tensor, std::int64_t elements) {
  return fmt::format("{} of {} elements of {} were never written", elements, tensor.elements,
                     tensor.name);
}

double error_bound(const Task& task, const Axes& axes, std::size_t index, double baseline_error) {
  if (!is_approximate(task.outputs[index])) {
    return 0;
  }
  const double rounding = rounding_of_sum(rounded_type(task, index), terms_of(task, axes));
  return std::max(task.tolerance.baseline_factor * baseline_error,
                  task.tolerance.rounding_factor * rounding);
}

double difference_bound(const Task& task, const Axes& axes, std::size_t index,
                        Distribution distribution) {
  double bound = error_bound(task, axes, index, 0);
  if (distribution == Distribution::constant && is_approximate(task.outputs[index])) {
    constexpr double most = 0x1p-5;  // zeros must not pass
    const double alike = rounding_of_equal_terms(rounded_type(task, index), terms_of(task, axes));
    bound = std::max(bound, std::min(alike, most));
  }
  return 2 * bound;
}

// Of two factors, each moved by sqrt(K) roundings at random, some ten times what one sum is off by.
// If that widened the bounds, those of all sums would be six times as wide as their rounding
// explains, and values of 16 bits be right.
double well_conditioned(const Task& task, const Axes& axes, std::size_t index) {
  constexpr double roundings = 16;
  // A shorter type is rounded once, behind sums of floats.
  const DType type = rounded_type(task, index) == DType::f64 ? DType::f64 : DType::f32;
  return roundings * rounding_of_sum(type, terms_of(task, axes));
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
