// What must be computed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/model/pasted_headers.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

std::string shape_formula(const std::vector<Formula>& shape) {
  std::vector<std::string> extents;
  extents.reserve(shape.size());
  for (const Formula& extent : shape) {
    extents.push_back(extent.text());
  }
  return shape.empty() ? "one value" : fmt::format("{}", fmt::join(extents, " x "));
}

std::string values_text(const TensorSpec& input) {
  const ValueSpec& values = input.values;
  switch (values.kind) {
    case ValueKind::normal:
      return "normal, mean 0, deviation 1";
    case ValueKind::uniform:
      return fmt::format("uniform in [{:g}, {:g})", values.low, values.high);
    case ValueKind::index:
      return fmt::format("whole numbers in [0, {})", values.bound.text());
    case ValueKind::offsets:
      return fmt::format("offsets, not decreasing, from 0 to {}", values.bound.text());
    case ValueKind::drawn:
      return "";
    case ValueKind::csr_columns:
      return fmt::format("sorted distinct columns in [0, {}) within each row of {}",
                         values.bound.text(), values.rows_of);
  }
  return "";
}

bool is_packed(const TensorSpec& input) {
  return input.name == "parameters";
}

// Of a PyTorch task: what get_inputs() gives is called input_0, input_1, …
std::string drawn_text(const TensorSpec& input) {
  if (input.name.starts_with("input_")) {
    return "as get_inputs() draws it";
  }
  return is_packed(input) ? "all parameters and floating buffers, one behind the other in the "
                            "module's order"
                          : "parameter or buffer of the module";
}

std::string input_notes(const TensorSpec& input) {
  std::string out = input.values.kind == ValueKind::drawn ? drawn_text(input) : values_text(input);
  if (input.constant) {
    out += "; constant: kp_prepare may preprocess it";
  }
  return out;
}

std::string output_notes(const TensorSpec& output) {
  return output.selects.empty()
             ? ""
             : fmt::format("an index; right if the value it selects ({}) ties with the best",
                           output.selects);
}

std::string tensors_text(const Task& task) {
  std::string out =
      "Tensors, as `tensors` has them (dense, row-major):\n\n"
      "| tensors[] | name | | type | shape | |\n|---|---|---|---|---|---|\n";
  int index = 0;
  const auto add = [&out, &index](const TensorSpec& tensor, const char* role,
                                  const std::string& notes) {
    out += fmt::format("| {} | {} | {} | {} (`{}`) | {} | {} |\n", index++, tensor.name, role,
                       name_of(tensor.dtype), cpp_type(tensor.dtype), shape_formula(tensor.shape),
                       notes);
  };
  for (const TensorSpec& input : task.inputs) {
    add(input, "input", input_notes(input));
  }
  for (const TensorSpec& output : task.outputs) {
    add(output, "output", output_notes(output));
  }
  return out;
}

std::string axes_text(const Task& task) {
  std::vector<std::string> axes;
  axes.reserve(task.axes.size());
  for (const AxisSpec& axis : task.axes) {
    axes.push_back(fmt::format("[{}] {}{}", axes.size(), axis.name,
                               axis.derived ? " = " + axis.derived->text() : ""));
  }
  return axes.empty()
             ? "There are no axes: every extent is fixed.\n\n"
             : fmt::format("Axes, as `context->axes` has them: {}.\n\n", fmt::join(axes, ", "));
}

std::string scalars_text(const Task& task) {
  std::vector<std::string> scalars;
  for (const ScalarSpec& scalar : task.scalars) {
    const std::string range = scalar.low == scalar.high
                                  ? fmt::format("always {:g}", scalar.low)
                                  : fmt::format("drawn from [{:g}, {:g}]", scalar.low, scalar.high);
    scalars.push_back(
        fmt::format("[{}] {} ({}, {})", scalars.size(), scalar.name, name_of(scalar.dtype), range));
  }
  return scalars.empty() ? ""
                         : fmt::format("\nScalars, as `context->scalars` has them (double): {}.\n",
                                       fmt::join(scalars, ", "));
}

std::string evaluated(const Formula& formula, const Axes& axes) {
  const Result<double> value = formula.evaluate(axes);
  return value ? amount_text(*value) : "?";
}

// Work at the shapes that are timed.
std::string work_text(const Task& task, Backend backend) {
  std::string out = fmt::format(
      "\nWork: {} floating-point operations, and at least {} bytes of traffic (every input read "
      "once, every output written once).\n\n| timed at | operations | least bytes |\n"
      "|---|---|---|\n",
      task.work.flops.text(), task.work.bytes.text());
  for (const Axes& given : timed_shapes(task, backend)) {
    const Result<Axes> axes = complete_axes(task, given);
    out += fmt::format("| {} | {} | {} |\n", shape_text(task, given),
                       axes ? evaluated(task.work.flops, *axes) : "?",
                       axes ? evaluated(task.work.bytes, *axes) : "?");
  }
  return out;
}

std::string held_out_text(const Task& task) {
  std::vector<std::string> ranges;
  for (const AxisSpec& axis : task.axes) {
    const auto range = task.held_out.find(axis.name);
    if (range != task.held_out.end()) {
      const auto& [low, high, step] = range->second;
      ranges.push_back(fmt::format("{} from {} to {}{}", axis.name, low, high,
                                   step == 1 ? "" : fmt::format(" in steps of {}", step)));
    }
  }
  return ranges.empty() ? ""
                        : fmt::format(
                              "\nIt must be right at these and at every shape with {}: such ones "
                              "are drawn anew "
                              "for each evaluation, ones that no tile divides among them.\n",
                              fmt::join(ranges, ", "));
}

std::string tolerance_text(const AgentOrder& order) {
  const Task& task = order.run->task;
  std::set<std::string> allowed(task.tolerance.allow_precision.begin(),
                                task.tolerance.allow_precision.end());
  allowed.insert(order.run->settings.allow_precision.begin(),
                 order.run->settings.allow_precision.end());
  const DType type = contract_type(task);
  std::string out = fmt::format(
      "\nTolerance: e = max |x - r| / (|r| + rms(r)) against the reference r in double must be at "
      "most max({:g} e(baseline), {:g} {}) with u = {:.3g} ({}) and K = {}. Integers must "
      "be "
      "exact.",
      task.tolerance.baseline_factor, task.tolerance.rounding_factor,
      unit_roundoff(type) > unit_roundoff(DType::f32) ? "(u + 2^-24 sqrt(K))" : "u sqrt(K)",
      unit_roundoff(type), name_of(type), task.reduction.text());
  out += allowed.empty() ? " No lower precision is accepted: an error that shows tf32, f16 or bf16 "
                           "products fails."
                         : fmt::format(" Errors of {} are accepted too.", fmt::join(allowed, ", "));
  out += task.tolerance.deterministic ? " Repeats must agree bit by bit." : "";
  return out + "\n";
}

std::string entry_text(const Task& task) {
  return !task.entry ? ""
                     : fmt::format(
                           "\nThe kernel is `{}`, declared `{}`. The lines marked `kp:adapter` "
                           "define kp_launch in its terms: keep these lines as they are.\n",
                           task.entry->function, task.entry->signature);
}

const ImplementationSpec* baseline_of(const Task& task, Backend backend) {
  const auto found =
      std::find_if(task.baselines.begin(), task.baselines.end(),
                   [backend](const ImplementationSpec& one) { return one.backend == backend; });
  return found == task.baselines.end() ? nullptr : &*found;
}

std::string file_of(const Task& task, const std::string& name) {
  const auto file = task.files.find(name);
  return file == task.files.end() ? "" : file->second;
}

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text
                             : shortened(text, most) + "\n(the rest is left out: it is too long)\n";
}

// What the baseline uses of headers of its own, which stay in their places.
std::string headers_text(const Scene& scene, const Shown& shown) {
  const Task& task = scene.order->run->task;
  const Backend backend = scene.order->run->settings.judging.backend;
  const ImplementationSpec* baseline = baseline_of(task, backend);
  const std::string used = baseline == nullptr ? "" : used_of_pasted(file_of(task, baseline->file));
  return used.empty() ? ""
                      : "The source has headers of its own; keep the lines that include them. What "
                        "it uses of them:\n\n" +
                            fenced(traits_of(backend).language, cut(used, shown.reference)) + "\n";
}

}  // namespace

std::string task_section(const Scene& scene, const Shown& /*shown*/) {
  const Task& task = scene.order->run->task;
  std::string out = fmt::format("## The task: {}\n\n{}\n\n", task.name, task.summary);
  out += axes_text(task) + tensors_text(task) + scalars_text(task);
  out += work_text(task, scene.order->run->settings.judging.backend);
  return out + held_out_text(task) + tolerance_text(*scene.order) + entry_text(task);
}

std::string reference_section(const Scene& scene, const Shown& shown) {
  const Task& task = scene.order->run->task;
  std::string out = "## The reference\n\n";
  if (task.reference.torch) {
    // Never shortened: it is the only definition of the task.
    return out +
           "What must be computed is what `Model` of this PyTorch file returns, in training mode, "
           "with the parameters that are among the tensors. Expected values are the module's in "
           "double.\n\n" +
           fenced("python", file_of(task, task.reference.file)) + "\n";
  }
  if (task.reference.baseline) {
    const ImplementationSpec* baseline =
        baseline_of(task, scene.order->run->settings.judging.backend);
    const std::string source = baseline == nullptr ? "" : file_of(task, baseline->file);
    return out + "What the baseline computes is right:\n\n" +
           fenced(traits_of(scene.order->run->settings.judging.backend).language,
                  cut(without_pasted(source), shown.reference)) +
           "\n" + headers_text(scene, shown);
  }
  return out +
         fmt::format(
             "What must be computed, called as `{}({})`; the judge runs it with double as "
             "`Real`:\n\n",
             task.reference.call.function, fmt::join(task.reference.call.arguments, ", ")) +
         fenced("cpp", cut(without_pasted(file_of(task, task.reference.file)), shown.reference)) +
         "\n" + headers_text(scene, shown);
}

}  // namespace kernelpro::agents
