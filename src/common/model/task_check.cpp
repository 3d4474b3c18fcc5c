#include "common/model/task_check.hpp"

#include <algorithm>

namespace kernelpro {
namespace {

// Every corner of the held-out ranges is tried, and their number doubles with each axis.
constexpr std::size_t most_given_axes = 12;

std::vector<std::string> given_axes(const Task& task) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : task.axes) {
    if (!axis.derived) {
      names.push_back(axis.name);
    }
  }
  return names;
}

// `list` is the task's own, "shapes.timed" or "shapes.cuda" its key.
Status check_shapes(const Task& task, const std::vector<Axes>& list, const std::string& list_key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Axes& shape = list[i];
    const std::string key = list_key + "[" + std::to_string(i) + "]";
    const auto earlier = list.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(list.begin(), earlier, shape) != earlier) {
      return task_error(key, "the shape " + shape_text(task, shape) +
                                 " is there twice and would count twice; remove one");
    }
    const Result<Axes> axes = complete_axes(task, shape);
    if (!axes.ok()) {
      const Error& error = axes.error();
      return task_error(error.context.empty() ? key : error.context, error.message);
    }
    for (const auto& [name, value] : shape) {
      if (value < 1) {
        return task_error(
            key, "the axis '" + name + "' is " + std::to_string(value) + "; expected at least 1");
      }
    }
    KP_TRY(check_at(task, *axes));
    const Result<double> bytes = task.work.bytes.evaluate(*axes);
    if (bytes.ok() && *bytes <= 0) {
      return task_error("work.bytes", "the formula \"" + task.work.bytes.text() + "\" gives 0 at " +
                                          shape_text(task, shape) +
                                          "; expected the least bytes that must move there");
    }
  }
  return {};
}

Status check_held_out_ranges(const Task& task, const std::vector<std::string>& given) {
  for (const auto& [name, range] : task.held_out) {
    const std::string key = "held_out." + name;
    if (std::find(given.begin(), given.end(), name) == given.end()) {
      return task_error(key, "'" + name + "' is not an axis to be given; remove the range");
    }
    if (range.low < 1 || range.low > range.high || range.step < 1) {
      return task_error(key, "the range is " + range_text(range) +
                                 "; expected 1 <= low <= high and a step of at least 1");
    }
  }
  for (const std::string& name : given) {
    if (!task.held_out.contains(name)) {
      return task_error("held_out." + name,
                        "the axis has no range to draw held-out shapes from; add one");
    }
  }
  return {};
}

Status check_held_out(const Task& task) {
  const std::vector<std::string> given = given_axes(task);
  if (given.size() > most_given_axes) {
    return task_error("axes", "there are " + std::to_string(given.size()) +
                                  " given axes; at most " + std::to_string(most_given_axes) +
                                  " are allowed, so derive some from others");
  }
  KP_TRY(check_held_out_ranges(task, given));
  for (std::size_t corner = 0; corner < std::size_t{1} << given.size(); ++corner) {
    Axes shape;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const AxisRange& range = task.held_out.at(given[i]);
      shape[given[i]] = (corner >> i & 1U) != 0 ? range.at_most(range.high) : range.low;
    }
    KP_LET(const Axes axes, complete_axes(task, shape));
    KP_TRY(check_at(task, axes));
  }
  return {};
}

}  // namespace

Status validate_task(const Task& task) {
  KP_TRY(check_structure(task));
  if (task.timed_shapes.empty()) {
    return task_error("shapes.timed", "there is no shape to time; give at least one");
  }
  KP_TRY(check_shapes(task, task.timed_shapes, "shapes.timed"));
  for (const auto& [backend, shapes] : task.shapes_on) {
    KP_TRY(check_shapes(task, shapes, "shapes." + name_of(backend)));
  }
  return check_held_out(task);
}

}  // namespace kernelpro
