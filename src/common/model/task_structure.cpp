#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "common/model/task_check.hpp"

namespace kernelpro {
namespace {

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

// Axes, tensors, selections and scalars share one name space: the reference's call names them all.
class Names {
 public:
  [[nodiscard]] Status add(const std::string& kind, const std::string& name) {
    const std::string key = kind + " " + name;
    if (!is_identifier(name)) {
      return task_error(key, "'" + name +
                                 "' is not a name; expected a letter or '_', then letters, digits "
                                 "and '_'");
    }
    if (!all_.insert(name).second) {
      return task_error(key, "the name '" + name +
                                 "' is used twice; axes, inputs, outputs, selections and scalars "
                                 "need different names");
    }
    return {};
  }
  [[nodiscard]] const std::set<std::string>& all() const { return all_; }

 private:
  std::set<std::string> all_;
};

Status collect_names(const Task& task, Names& names) {
  for (const AxisSpec& axis : task.axes) {
    KP_TRY(names.add("axis", axis.name));
  }
  for (const TensorSpec& input : task.inputs) {
    KP_TRY(names.add("input", input.name));
  }
  for (const TensorSpec& output : task.outputs) {
    KP_TRY(names.add("output", output.name));
  }
  for (const Selection& selection : task.selections) {
    KP_TRY(names.add("selection", selection.name));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    KP_TRY(names.add("scalar", scalar.name));
  }
  return {};
}

Status check_axis_names(const std::string& key, const Formula& formula,
                        const std::set<std::string>& axes) {
  for (const std::string& name : formula.names()) {
    if (!axes.contains(name)) {
      return task_error(key, "the formula \"" + formula.text() + "\" uses '" + name +
                                 "', which is not an axis; known here: " + joined(axes));
    }
  }
  return {};
}

Status check_shape_names(const std::string& key, const std::vector<Formula>& shape,
                         const std::set<std::string>& axes) {
  for (const Formula& extent : shape) {
    KP_TRY(check_axis_names(key, extent, axes));
  }
  return {};
}

// Collects all axes: a derived one may use the given axes and the derived ones above it.
Status check_derived_axes(const Task& task, std::set<std::string>& axes) {
  for (const AxisSpec& axis : task.axes) {
    if (!axis.derived) {
      axes.insert(axis.name);
    }
  }
  for (const AxisSpec& axis : task.axes) {
    if (axis.derived) {
      KP_TRY(check_axis_names("axis " + axis.name, *axis.derived, axes));
      axes.insert(axis.name);
    }
  }
  return {};
}

Status check_formulas(const Task& task) {
  std::set<std::string> axes;
  KP_TRY(check_derived_axes(task, axes));
  for (const TensorSpec& input : task.inputs) {
    KP_TRY(check_shape_names("input " + input.name + ".shape", input.shape, axes));
    KP_TRY(check_axis_names("input " + input.name + ".values", input.values.bound, axes));
  }
  for (const TensorSpec& output : task.outputs) {
    KP_TRY(check_shape_names("output " + output.name + ".shape", output.shape, axes));
  }
  for (const Selection& selection : task.selections) {
    KP_TRY(check_shape_names("selection " + selection.name + ".shape", selection.shape, axes));
  }
  KP_TRY(check_axis_names("reduction", task.reduction, axes));
  KP_TRY(check_axis_names("work.flops", task.work.flops, axes));
  return check_axis_names("work.bytes", task.work.bytes, axes);
}

Status check_row_pointers(const Task& task, const TensorSpec& input, const std::string& key) {
  const auto rows =
      std::find_if(task.inputs.begin(), task.inputs.end(),
                   [&](const TensorSpec& other) { return other.name == input.values.rows_of; });
  if (rows == task.inputs.end() || rows->values.kind != ValueKind::offsets) {
    return task_error(key, "rows_of is '" + input.values.rows_of +
                               "'; expected the name of an input whose values are offsets");
  }
  return {};
}

Status check_values(const Task& task, const TensorSpec& input) {
  const std::string key = "input " + input.name + ".values";
  const ValueSpec& values = input.values;
  const bool floating = is_floating(input.dtype);
  const std::string type(name_of(input.dtype));
  switch (values.kind) {
    case ValueKind::normal:
      return floating ? Status()
                      : task_error(key, "normal values do not fit the type " + type +
                                            "; use uniform, index, offsets or csr_columns");
    case ValueKind::uniform:
      return std::isfinite(values.low) && std::isfinite(values.high) && values.low < values.high
                 ? Status()
                 : task_error(key, "uniform values need finite bounds with low < high");
    case ValueKind::drawn:
      return task.reference.torch
                 ? Status()
                 : task_error(key,
                              "only a PyTorch reference draws inputs; use normal, uniform, "
                              "index, offsets or csr_columns");
    case ValueKind::index:
    case ValueKind::offsets:
    case ValueKind::csr_columns:
      break;
  }
  if (floating) {
    return task_error(
        key, "whole numbers (index, offsets, csr_columns) need an integer type, not " + type);
  }
  if (values.kind != ValueKind::index && input.shape.size() != 1) {
    return task_error(key, "offsets and csr_columns fill a tensor of one axis; this one has " +
                               std::to_string(input.shape.size()));
  }
  return values.kind == ValueKind::csr_columns ? check_row_pointers(task, input, key) : Status();
}

Status check_selections(const Task& task) {
  std::set<std::string> selected;
  for (const TensorSpec& output : task.outputs) {
    if (output.selects.empty()) {
      continue;
    }
    const std::string key = "output " + output.name + ".selects";
    const auto selection =
        std::find_if(task.selections.begin(), task.selections.end(),
                     [&](const Selection& other) { return other.name == output.selects; });
    if (selection == task.selections.end()) {
      return task_error(key, "there is no selection '" + output.selects + "'; declare it");
    }
    if (is_floating(output.dtype)) {
      return task_error(
          key, "an index needs an integer type, not " + std::string(name_of(output.dtype)));
    }
    if (selection->shape.size() != output.shape.size() + 1) {
      return task_error("selection " + selection->name + ".shape",
                        "it has " + std::to_string(selection->shape.size()) +
                            " axes; expected those of the output '" + output.name +
                            "' and one more, the candidates of the choice");
    }
    selected.insert(output.selects);
  }
  for (const Selection& selection : task.selections) {
    if (!selected.contains(selection.name)) {
      return task_error("selection " + selection.name,
                        "no output selects it; name it in an output's `selects` or remove it");
    }
  }
  return {};
}

Status check_scalars(const Task& task) {
  for (const ScalarSpec& scalar : task.scalars) {
    if (!std::isfinite(scalar.low) || !std::isfinite(scalar.high) || scalar.low > scalar.high) {
      return task_error("scalar " + scalar.name,
                        "its range must be two finite numbers with low <= high");
    }
  }
  return {};
}

Status check_tolerance(const ToleranceSpec& tolerance) {
  const auto positive = [](double factor) { return std::isfinite(factor) && factor > 0; };
  if (!positive(tolerance.baseline_factor) || !positive(tolerance.rounding_factor)) {
    return task_error("tolerance", "baseline_factor and rounding_factor must be above 0");
  }
  for (const std::string& precision : tolerance.allow_precision) {
    if (precision != "bf16" && precision != "f16" && precision != "tf32") {
      return task_error("tolerance.allow_precision",
                        "'" + precision + "' is not a precision; known: bf16, f16, tf32");
    }
  }
  return {};
}

Status check_file(const Task& task, const std::string& key, const std::string& file) {
  if (!task.files.contains(file)) {
    return task_error(key, file.empty() ? "no file is named"
                                        : "the file '" + file + "' is missing from the task");
  }
  return {};
}

Status check_implementations(const Task& task, const std::string& kind,
                             const std::vector<ImplementationSpec>& list,
                             std::set<std::string>& names) {
  for (const ImplementationSpec& spec : list) {
    const std::string key = kind + " " + spec.name;
    if (spec.name.empty()) {
      return task_error(kind, "an implementation has no name; name it");
    }
    if (!names.insert(spec.name).second) {
      return task_error(key, "the name '" + spec.name +
                                 "' is used twice; baselines and comparators need different names");
    }
    KP_TRY(check_file(task, key + ".file", spec.file));
  }
  return {};
}

Status check_reference(const Task& task, const std::set<std::string>& names) {
  if (task.reference.baseline) {
    return task.selections.empty()
               ? Status()
               : task_error("selection " + task.selections[0].name,
                            "only a reference of its own can write a selection; name one in "
                            "[reference] instead of the baseline");
  }
  KP_TRY(check_file(task, "reference.file", task.reference.file));
  if (task.reference.torch) {
    const auto other =
        std::find_if(task.inputs.begin(), task.inputs.end(),
                     [](const TensorSpec& input) { return input.values.kind != ValueKind::drawn; });
    return other == task.inputs.end()
               ? Status()
               : task_error("input " + other->name + ".values",
                            "a PyTorch reference draws all inputs; use \"drawn\"");
  }
  const CallSpec& call = task.reference.call;
  const std::string key = "reference.call";
  if (!is_identifier(call.function)) {
    return task_error(key, "'" + call.function + "' is not the name of a function");
  }
  for (const std::string& argument : call.arguments) {
    if (!names.contains(argument)) {
      return task_error(
          key, "the argument '" + argument +
                   "' is not an axis, scalar, input, output or selection; known: " + joined(names));
    }
  }
  const auto passed = [&](const std::string& name) {
    return std::find(call.arguments.begin(), call.arguments.end(), name) != call.arguments.end();
  };
  for (const TensorSpec& output : task.outputs) {
    // An index output may be defined by its selection alone.
    if (output.selects.empty() && !passed(output.name)) {
      return task_error(key, "the output '" + output.name +
                                 "' is not passed to the reference, which must write it");
    }
  }
  for (const Selection& selection : task.selections) {
    if (!passed(selection.name)) {
      return task_error(key, "the selection '" + selection.name +
                                 "' is not passed to the reference, which must write it");
    }
  }
  return {};
}

}  // namespace

Status check_structure(const Task& task) {
  if (task.name.empty()) {
    return task_error("name", "the task has no name; name it");
  }
  if (task.outputs.empty()) {
    return task_error("output", "the task has no output; it must compute something");
  }
  Names names;
  KP_TRY(collect_names(task, names));
  KP_TRY(check_formulas(task));
  for (const TensorSpec& input : task.inputs) {
    KP_TRY(check_values(task, input));
  }
  KP_TRY(check_selections(task));
  KP_TRY(check_scalars(task));
  KP_TRY(check_tolerance(task.tolerance));
  KP_TRY(check_reference(task, names.all()));
  if (task.baselines.empty()) {
    return task_error("baseline", "the task has no baseline to compare with; give at least one");
  }
  std::set<std::string> implementations;
  KP_TRY(check_implementations(task, "baseline", task.baselines, implementations));
  return check_implementations(task, "comparator", task.comparators, implementations);
}

}  // namespace kernelpro
