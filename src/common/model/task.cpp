#include "common/model/task.hpp"

#include <algorithm>

namespace kernelpro {
namespace {

// The least precise floating type among the tensors; nothing when all are integers.
std::optional<DType> least_precise(const std::vector<TensorSpec>& tensors) {
  std::optional<DType> widest;
  for (const TensorSpec& tensor : tensors) {
    if (is_floating(tensor.dtype) &&
        (!widest || unit_roundoff(tensor.dtype) > unit_roundoff(*widest))) {
      widest = tensor.dtype;
    }
  }
  return widest;
}

std::string given_axes_text(const Task& task) {
  std::string text;
  for (const AxisSpec& axis : task.axes) {
    if (!axis.derived) {
      text += (text.empty() ? "" : ", ") + axis.name;
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Result<Axes> complete_axes(const Task& task, const Axes& shape) {
  Axes axes;
  for (const AxisSpec& axis : task.axes) {
    if (axis.derived) {
      continue;
    }
    const auto given = shape.find(axis.name);
    if (given == shape.end()) {
      return make_error(
          ErrorKind::bad_input,
          "the axis '" + axis.name + "' is missing; give all of " + given_axes_text(task));
    }
    if (given->second < 0) {
      return make_error(ErrorKind::bad_input, "the axis '" + axis.name + "' is " +
                                                  std::to_string(given->second) +
                                                  "; expected a whole number of at least 0");
    }
    axes[axis.name] = given->second;
  }
  for (const auto& [name, value] : shape) {
    if (!axes.contains(name)) {
      return make_error(
          ErrorKind::bad_input,
          "'" + name + "' is not an axis to be given; they are " + given_axes_text(task));
    }
  }
  for (const AxisSpec& axis : task.axes) {
    if (axis.derived) {
      const Result<std::int64_t> value = axis.derived->evaluate_size(axes);
      if (!value.ok()) {
        return make_error(ErrorKind::bad_input, value.error().message, "axis " + axis.name);
      }
      axes[axis.name] = *value;
    }
  }
  return axes;
}

Result<std::vector<std::int64_t>> evaluate_shape(const std::vector<Formula>& shape,
                                                 const Axes& axes) {
  constexpr std::int64_t limit = std::int64_t{1} << 40U;
  std::vector<std::int64_t> extents;
  std::int64_t product = 1;
  for (const Formula& formula : shape) {
    KP_LET(const std::int64_t extent, formula.evaluate_size(axes));
    // An extent of 0 does not excuse the others: each product of leading extents stays in range.
    if (extent > 0 && product >= limit / extent + (limit % extent != 0 ? 1 : 0)) {
      return make_error(ErrorKind::bad_input,
                        "the tensor has 2^40 elements or more at the extent " + formula.text() +
                            " = " + std::to_string(extent) + "; make it smaller");
    }
    product *= std::max<std::int64_t>(extent, 1);
    extents.push_back(extent);
  }
  return extents;
}

const std::vector<Axes>& timed_shapes(const Task& task, Backend backend) {
  const auto own = task.shapes_on.find(backend);
  return own != task.shapes_on.end() && !own->second.empty() ? own->second : task.timed_shapes;
}

std::string shape_text(const Task& task, const Axes& axes) {
  std::string text;
  for (const AxisSpec& axis : task.axes) {
    const auto value = axes.find(axis.name);
    if (!axis.derived && value != axes.end()) {
      text += (text.empty() ? "" : " ") + axis.name + "=" + std::to_string(value->second);
    }
  }
  return text.empty() ? "its own size" : text;
}

std::string range_text(const AxisRange& range) {
  const std::string step = range.step == 1 ? "" : ", " + std::to_string(range.step);
  return "[" + std::to_string(range.low) + ", " + std::to_string(range.high) + step + "]";
}

DType contract_type(const Task& task) {
  if (const std::optional<DType> output = least_precise(task.outputs)) {
    return *output;
  }
  if (const std::optional<DType> input = least_precise(task.inputs)) {
    return *input;
  }
  return task.outputs.empty() ? DType::f32 : task.outputs[0].dtype;
}

const ImplementationSpec* find_implementation(const std::vector<ImplementationSpec>& list,
                                              const std::string& name) {
  const auto found = std::find_if(
      list.begin(), list.end(), [&](const ImplementationSpec& spec) { return spec.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace kernelpro
