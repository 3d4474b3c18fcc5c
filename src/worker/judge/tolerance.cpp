#include "worker/judge/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelpro {

namespace {

struct LowerPrecision {
  const char* name;
  double unit_roundoff;
};

// From the most precise to the least.
constexpr LowerPrecision lower_precisions[] = {
    {"tf32", 0x1p-11}, {"f16", 0x1p-11}, {"bf16", 0x1p-8}};

constexpr double lower_factor = 8.0;

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
  const double u =
      is_floating(output.dtype) ? unit_roundoff(output.dtype) : unit_roundoff(contract_type(task));
  const Result<double> length = task.reduction.evaluate(axes);
  const double terms = length ? std::max(*length, 1.0) : 1.0;
  return std::max(task.tolerance.baseline_factor * baseline_error,
                  task.tolerance.rounding_factor * u * std::sqrt(terms));
}

double lower_precision_bound(const std::string& precision) {
  for (const LowerPrecision& lower : lower_precisions) {
    if (precision == lower.name) {
      return lower_factor * lower.unit_roundoff;
    }
  }
  return 0;
}

ToleranceResult judge_errors(const Task& task, const BufferPlan& plan,
                             const std::vector<TensorError>& errors,
                             const std::vector<double>& bounds,
                             const std::vector<std::string>& allowed) {
  ToleranceResult result;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const TensorError& error = errors[i];
    if (error.error <= bounds[i]) {
      continue;
    }
    const TensorPlan& tensor = plan.tensors[plan.input_count + i];
    const bool floating = is_floating(tensor.dtype) || !task.outputs[i].selects.empty();
    std::string fits;
    std::string accepted;
    for (const LowerPrecision& lower : lower_precisions) {
      const double bound = lower_factor * lower.unit_roundoff;
      if (floating && error.error <= bound && fits.empty()) {
        fits = lower.name;
      }
      const bool permitted = std::find(allowed.begin(), allowed.end(), lower.name) != allowed.end();
      if (floating && permitted && error.error <= bound && accepted.empty()) {
        accepted = lower.name;
      }
    }
    if (!accepted.empty()) {
      const bool lowest = lower_precision_bound(accepted) > lower_precision_bound(result.precision);
      result.precision = lowest ? accepted : result.precision;
      continue;
    }
    result.passed = false;
    result.failure = wrong_values(tensor, error, bounds[i]);
    if (!fits.empty() && error.poisoned == 0) {
      result.failure.rule = "precision";
      result.failure.evidence.push_back(
          fmt::format("the error is within what {0} arithmetic would give; if that is meant, allow "
                      "it with --allow-precision {0}",
                      fits));
    }
    return result;
  }
  return result;
}

}  // namespace kernelpro
