// What must be computed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/model/pasted_headers.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"
#include "coordinator/propose/agents/tolerance_text.hpp"

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
  return is_packed(input) ? "all parameters, then all floating buffers, of the module; where each "
                            "begins is below"
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

// What lies where in an input that holds several tensors. Without it nobody could write the kernel,
// so it is whole but for what no model could use.
std::string parts_text(const Task& task) {
  constexpr std::size_t most = 1000;
  std::string out;
  for (const TensorSpec& input : task.inputs) {
    if (input.parts.empty()) {
      continue;
    }
    out += fmt::format(
        "\n`{}` holds, each dense and at a multiple of 64 elements (first element, name, shape; "
        "the elements between them are padding; `buffer`: no parameter):\n\n",
        input.name);
    const std::size_t shown = std::min(most, input.parts.size());
    for (std::size_t i = 0; i < shown; ++i) {
      out += fmt::format("- {}\n", one_line(input.parts[i]));
    }
    out += shown == input.parts.size()
               ? ""
               : fmt::format("({} more are left out)\n", input.parts.size() - shown);
  }
  return out;
}

// Axes that never have another size: "d = 64".
std::string single_sizes_text(const Task& task) {
  std::vector<std::string> out;
  for (const auto& [axis, range] : task.held_out) {
    const auto same = [&axis, &range](const Axes& shape) {
      const auto size = shape.find(axis);
      return size != shape.end() && size->second == range.low;
    };
    const bool everywhere = std::ranges::all_of(
        task.shapes_on, [&same](const auto& on) { return std::ranges::all_of(on.second, same); });
    if (range.low == range.high && everywhere && std::ranges::all_of(task.timed_shapes, same)) {
      out.push_back(fmt::format("{} = {}", axis, range.low));
    }
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string axes_text(const Task& task) {
  std::vector<std::string> axes;
  axes.reserve(task.axes.size());
  for (const AxisSpec& axis : task.axes) {
    axes.push_back(fmt::format("[{}] {}{}", axes.size(), axis.name,
                               axis.derived ? " = " + axis.derived->text() : ""));
  }
  const std::string one = single_sizes_text(task);
  return axes.empty()
             ? "Every extent is fixed: `context->axes` is empty, and sizes may be hard-coded.\n\n"
             : fmt::format(
                   "Axes, as `context->axes` has them: {}. No extent that depends on them may "
                   "be hard-coded{}.\n\n",
                   fmt::join(axes, ", "), one.empty() ? "" : ", but for " + one);
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

// The operations, in words where there are none or they are not known.
std::string operations_text(const Task& task) {
  const ReferenceSpec& reference = task.reference;
  const bool none = task.work.flops.text() == "0";
  if (none && reference.torch) {
    return reference.products ? "no floating-point operation, values are only moved"
                              : "operations that were not counted";
  }
  const Result<double> all = task.work.flops.evaluate({});
  std::string out = task.work.flops.text() + " floating-point operations";
  if (reference.products && *reference.products > 0 && all && *all > 0) {
    out += fmt::format(", {:.3g} % of them in sums of products", 100 * *reference.products / *all);
  }
  return out;
}

// Work at the shapes that are timed.
std::string work_text(const Task& task, Backend backend) {
  std::string out = fmt::format(
      "\nWork: {}, and at least {} bytes of traffic (every input read once, every output written "
      "once{}).\n",
      operations_text(task), task.work.bytes.text(),
      task.reference.torch ? "; an algorithm that must read something twice moves more" : "");
  if (task.axes.empty()) {
    return out;
  }
  out += "\n| timed at | operations | least bytes |\n|---|---|---|\n";
  for (const Axes& given : timed_shapes(task, backend)) {
    const Result<Axes> axes = complete_axes(task, given);
    out += fmt::format("| {} | {} | {} |\n", shape_text(task, given),
                       axes ? evaluated(task.work.flops, *axes) : "?",
                       axes ? evaluated(task.work.bytes, *axes) : "?");
  }
  return out;
}

// What was seen of a PyTorch module when the task was made.
std::string seen_text(const Task& task) {
  constexpr std::size_t most = 16;
  const ReferenceSpec& reference = task.reference;
  std::string out;
  if (!reference.without_effect.empty()) {
    const auto& names = reference.without_effect;
    const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
    out += fmt::format("\nWithout effect on the outputs, so they need not be read: {}{}.\n",
                       fmt::join(names.begin(), shown, ", "),
                       names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
  }
  if (!reference.runs.empty()) {
    out +=
        fmt::format("\nWhat PyTorch runs for a call:\n\n- {}\n", fmt::join(reference.runs, "\n- "));
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

// How the module is called, as far as it matters to this one.
std::string module_text(const Task& task) {
  const std::string& source = file_of(task, task.reference.file);
  const bool statistics = source.find("BatchNorm") != std::string::npos ||
                          source.find("batch_norm") != std::string::npos;
  const bool parameters = std::ranges::any_of(
      task.inputs, [](const TensorSpec& input) { return !input.name.starts_with("input_"); });
  return std::string(parameters ? ", with the parameters that are among the tensors" : "") +
         (statistics ? ", in training mode: a normalization over the batch uses the statistics of "
                       "its batch, and its running ones are neither read nor written"
                     : "");
}

}  // namespace

std::string task_section(const Scene& scene, const Shown& /*shown*/) {
  const Task& task = scene.order->run->task;
  std::string out = fmt::format("## The task: {}\n\n{}\n\n", task.name, task.summary);
  out += axes_text(task) + tensors_text(task) + parts_text(task) + scalars_text(task);
  out += work_text(task, scene.order->run->settings.judging.backend) + seen_text(task);
  return out + held_out_text(task) + tolerance_text(*scene.order) + entry_text(task);
}

std::string reference_section(const Scene& scene, const Shown& shown) {
  const Task& task = scene.order->run->task;
  std::string out = "## The reference\n\n";
  if (task.reference.torch) {
    // Never shortened: it is the only definition of the task.
    return out + "What must be computed is what `Model` of this PyTorch file returns" +
           module_text(task) + ". Expected values are the module's in double.\n\n" +
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
