#include <cstdint>

#include "common/model/number_text.hpp"
#include "common/model/task_check.hpp"

namespace kernelpro {
namespace {

// The least and greatest value of an integer type.
struct Range {
  double low;
  double high;
};

Range range_of(DType dtype) {
  if (dtype == DType::u8) {
    return {0, 255};
  }
  const auto half = static_cast<double>(std::uint64_t{1} << (8 * size_of(dtype) - 1));
  return {-half, half - 1};
}

std::int64_t count_of(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    count *= extent;
  }
  return count;
}

Result<std::int64_t> tensor_count(const std::string& key, const std::vector<Formula>& shape,
                                  const Axes& axes) {
  const Result<std::vector<std::int64_t>> extents = evaluate_shape(shape, axes);
  if (!extents.ok()) {
    return task_error(key, extents.error().message);
  }
  return count_of(*extents);
}

std::string at_text(const Axes& axes) {
  std::string text = " at";
  for (const auto& [name, value] : axes) {
    text += " " + name + "=" + std::to_string(value);
  }
  return text;
}

Result<std::int64_t> bound_of(const TensorSpec& input, const Axes& axes) {
  Result<std::int64_t> bound = input.values.bound.evaluate_size(axes);
  if (!bound.ok()) {
    return task_error("input " + input.name + ".values", bound.error().message);
  }
  return bound;
}

// The row pointers and the columns of a sparse matrix must describe the same matrix.
Status check_sparse(const Task& task, const TensorSpec& columns, std::int64_t entries,
                    std::int64_t bound, const Axes& axes) {
  const std::string key = "input " + columns.name + ".values";
  for (const TensorSpec& rows : task.inputs) {
    if (rows.name != columns.values.rows_of) {
      continue;
    }
    KP_LET(const std::int64_t pointers,
           tensor_count("input " + rows.name + ".shape", rows.shape, axes));
    KP_LET(const std::int64_t end, bound_of(rows, axes));
    if (end != entries) {
      return task_error(key, "the offsets in '" + rows.name + "' end at " + std::to_string(end) +
                                 " but '" + columns.name + "' has " + std::to_string(entries) +
                                 " elements" + at_text(axes) + "; they must be equal");
    }
    if (static_cast<double>(pointers - 1) * static_cast<double>(bound) <
        static_cast<double>(entries)) {
      return task_error(key, std::to_string(entries) + " distinct entries do not fit " +
                                 std::to_string(pointers - 1) + " rows of " +
                                 std::to_string(bound) + " columns" + at_text(axes));
    }
  }
  return {};
}

Status check_uniform(const TensorSpec& input) {
  if (is_floating(input.dtype)) {
    return {};
  }
  const Range range = range_of(input.dtype);
  if (input.values.low < range.low || input.values.high > range.high + 1) {
    return task_error(
        "input " + input.name + ".values",
        "uniform values leave the range of the type " + std::string(name_of(input.dtype)));
  }
  return {};
}

Status check_input(const Task& task, const TensorSpec& input, const Axes& axes) {
  KP_LET(const std::int64_t count,
         tensor_count("input " + input.name + ".shape", input.shape, axes));
  const ValueKind kind = input.values.kind;
  if (kind == ValueKind::normal || kind == ValueKind::drawn) {
    return {};
  }
  if (kind == ValueKind::uniform) {
    return check_uniform(input);
  }
  const std::string key = "input " + input.name + ".values";
  KP_LET(const std::int64_t bound, bound_of(input, axes));
  const auto largest = static_cast<double>(kind == ValueKind::offsets ? bound : bound - 1);
  if (largest > range_of(input.dtype).high) {
    return task_error(key, "the bound " + std::to_string(bound) + " does not fit the type " +
                               std::string(name_of(input.dtype)) + at_text(axes));
  }
  if (kind == ValueKind::offsets) {
    return count >= 2
               ? Status()
               : task_error(key, "offsets need at least 2 elements, one row" + at_text(axes));
  }
  if (bound == 0 && count > 0) {
    return task_error(key, "the bound is 0, so there is no value to draw" + at_text(axes));
  }
  return kind == ValueKind::csr_columns ? check_sparse(task, input, count, bound, axes) : Status();
}

// A selection's leading extents are those of every output that selects it.
Status check_selection(const Task& task, const Selection& selection, const Axes& axes) {
  const std::string key = "selection " + selection.name + ".shape";
  const Result<std::vector<std::int64_t>> extents = evaluate_shape(selection.shape, axes);
  if (!extents.ok()) {
    return task_error(key, extents.error().message);
  }
  for (const TensorSpec& output : task.outputs) {
    if (output.selects != selection.name) {
      continue;
    }
    KP_LET(std::vector<std::int64_t> expected, evaluate_shape(output.shape, axes));
    expected.push_back(extents->back());
    if (expected != *extents) {
      return task_error(key, "its leading extents differ from those of the output '" + output.name +
                                 "'" + at_text(axes) +
                                 "; expected the output's shape, then the candidates");
    }
    if (extents->back() < 1) {
      return task_error(key, "there is nothing to choose from" + at_text(axes));
    }
  }
  return {};
}

Status check_at_least(const std::string& key, const Formula& formula, double least,
                      const Axes& axes) {
  const Result<double> value = formula.evaluate(axes);
  if (!value.ok()) {
    return task_error(key, value.error().message);
  }
  if (*value < least) {
    return task_error(key, "the formula \"" + formula.text() + "\" gives " + number_text(*value) +
                               at_text(axes) + "; expected at least " + number_text(least));
  }
  return {};
}

}  // namespace

Status check_at(const Task& task, const Axes& axes) {
  for (const TensorSpec& input : task.inputs) {
    KP_TRY(check_input(task, input, axes));
  }
  for (const TensorSpec& output : task.outputs) {
    KP_TRY(tensor_count("output " + output.name + ".shape", output.shape, axes));
  }
  for (const Selection& selection : task.selections) {
    KP_TRY(check_selection(task, selection, axes));
  }
  // Rounding accumulates over at least one operation; integers do not round.
  KP_TRY(
      check_at_least("reduction", task.reduction, is_floating(contract_type(task)) ? 1 : 0, axes));
  KP_TRY(check_at_least("work.flops", task.work.flops, 0, axes));
  return check_at_least("work.bytes", task.work.bytes, 0, axes);
}

}  // namespace kernelpro
