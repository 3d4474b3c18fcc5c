#include "coordinator/report/task_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "coordinator/report/table.hpp"

namespace kernelpro {
namespace {

std::string extents_text(const TensorSpec& tensor) {
  std::vector<std::string> extents;
  extents.reserve(tensor.shape.size());
  for (const Formula& extent : tensor.shape) {
    extents.push_back(extent.text());
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string values_text(const ValueSpec& values) {
  switch (values.kind) {
    case ValueKind::normal:
      return "normal";
    case ValueKind::uniform:
      return fmt::format("uniform from {} to {}", values.low, values.high);
    case ValueKind::index:
      return "an index below " + values.bound.text();
    case ValueKind::offsets:
      return "offsets of rows, from 0 to " + values.bound.text();
    case ValueKind::csr_columns:
      return fmt::format("columns below {}, sorted in the rows of {}", values.bound.text(),
                         values.rows_of);
    case ValueKind::drawn:
      break;
  }
  return "drawn by the module";
}

std::string parameters_text(const Task& task) {
  Table table({"name", "is", "type", "shape", "values"});
  for (const AxisSpec& axis : task.axes) {
    table.add({axis.name, "size", "", "", axis.derived ? "= " + axis.derived->text() : "given"});
  }
  for (const ScalarSpec& scalar : task.scalars) {
    table.add({scalar.name, "number", std::string(name_of(scalar.dtype)), "",
               scalar.low == scalar.high ? fmt::format("{}", scalar.low)
                                         : fmt::format("{} to {}", scalar.low, scalar.high)});
  }
  for (const TensorSpec& input : task.inputs) {
    table.add({input.name, input.constant ? "weight" : "input", std::string(name_of(input.dtype)),
               extents_text(input), values_text(input.values)});
  }
  for (const TensorSpec& output : task.outputs) {
    table.add({output.name, "output", std::string(name_of(output.dtype)), extents_text(output),
               output.selects.empty() ? "" : "selects in " + output.selects});
  }
  return table.text();
}

std::string shapes_text(const Task& task, const std::vector<Axes>& shapes) {
  std::vector<std::string> texts;
  texts.reserve(shapes.size());
  for (const Axes& shape : shapes) {
    texts.push_back(shape_text(task, shape));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string reference_text(const ReferenceSpec& reference) {
  if (reference.baseline) {
    return "what the baseline computes";
  }
  return reference.torch ? "the PyTorch module " + reference.file
                         : fmt::format("{} of {}, in double precision", reference.call.function,
                                       reference.file);
}

}  // namespace

std::string task_text(const Task& task) {
  std::string text = fmt::format("{}: {}\n\n{}\n", task.name, task.summary, parameters_text(task));
  const auto line = [&text](const std::string& name, const std::string& value) {
    text += fmt::format("  {:10} {}\n", name, value);
  };
  line("timed", shapes_text(task, task.timed_shapes));
  for (const auto& [backend, shapes] : task.shapes_on) {
    line("on " + name_of(backend), shapes_text(task, shapes));
  }
  std::vector<std::string> ranges;
  ranges.reserve(task.held_out.size());
  for (const auto& [name, range] : task.held_out) {
    ranges.push_back(name + " in " + range_text(range));
  }
  if (!ranges.empty()) {
    line("checked", fmt::format("{}", fmt::join(ranges, ", ")));
  }
  line("right is", reference_text(task.reference));
  line("tolerance",
       fmt::format("{} roundings of {} over a sum of {} terms", task.tolerance.rounding_factor,
                   name_of(contract_type(task)), task.reduction.text()));
  line("work",
       fmt::format("{} operations, {} bytes", task.work.flops.text(), task.work.bytes.text()));
  for (const ImplementationSpec& one : task.baselines) {
    line("baseline", fmt::format("{} on {}: {} {}", one.name, name_of(one.backend), one.file,
                                 fmt::join(one.options, " ")));
  }
  if (task.entry) {
    line("candidates", task.files.contains("bridge.hpp")
                           ? "define the function that bridge.hpp calls"
                           : "define `" + task.entry->signature + "`");
  }
  return text;
}

}  // namespace kernelpro
