#include "coordinator/task/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelpro {
namespace {

using Role = EntryParameter::Role;

// One axis: about a million elements. More axes: less each, so that a set stays in the megabytes.
struct Sizes {
  std::int64_t timed;
  std::int64_t held_out;
};

Sizes default_sizes(std::size_t axes, bool cuda) {
  if (cuda) {
    // A GPU needs more to do.
    const std::vector<Sizes> sizes = {{.timed = 1 << 24, .held_out = 100'000},
                                      {.timed = 4096, .held_out = 1000},
                                      {.timed = 1024, .held_out = 200}};
    return axes <= sizes.size() ? sizes[axes - 1] : Sizes{.timed = 64, .held_out = 32};
  }
  if (axes == 1) {
    return {.timed = 1 << 20, .held_out = 5000};
  }
  if (axes == 2) {
    return {.timed = 1024, .held_out = 200};
  }
  return axes == 3 ? Sizes{.timed = 256, .held_out = 100} : Sizes{.timed = 32, .held_out = 24};
}

std::string toml_string(const std::string& text) {
  std::string escaped = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
    }
    escaped += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  }
  return escaped + "\"";
}

std::string toml_strings(const std::vector<std::string>& list) {
  std::vector<std::string> quoted;
  quoted.reserve(list.size());
  for (const std::string& text : list) {
    quoted.push_back(toml_string(text));
  }
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string product(const std::vector<std::string>& shape) {
  std::vector<std::string> factors;
  for (const std::string& extent : shape) {
    const bool plain = extent.find_first_of(" +-*/") == std::string::npos;
    factors.push_back(plain ? extent : "(" + extent + ")");
  }
  return fmt::format("{}", fmt::join(factors, "*"));
}

std::string bytes_formula(const TaskPlan& plan) {
  std::vector<std::string> terms;
  for (const auto* list : {&plan.inputs, &plan.outputs}) {
    for (const PlannedTensor& tensor : *list) {
      terms.push_back(fmt::format("{}*{}", size_of(tensor.dtype), product(tensor.shape)));
    }
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

std::string tensor_section(const std::string& kind, const PlannedTensor& tensor) {
  std::string text = fmt::format("[[{}]]\nname = \"{}\"\ndtype = \"{}\"\nshape = {}\n", kind,
                                 tensor.name, name_of(tensor.dtype), toml_strings(tensor.shape));
  if (!tensor.values.empty()) {
    text += "values = " + tensor.values + "\n";
  }
  return text + "\n";
}

const PlannedTensor* find_tensor(const std::vector<PlannedTensor>& list, const std::string& name) {
  const auto found =
      std::ranges::find_if(list, [&](const PlannedTensor& tensor) { return tensor.name == name; });
  return found == list.end() ? nullptr : &*found;
}

const PlannedTensor* input_of(const TaskPlan& plan, const std::string& output) {
  return find_tensor(plan.inputs, output + "_in");
}

bool is_read_without_const(const TaskPlan& plan, const EntryParameter& parameter) {
  return parameter.role == Role::output && find_tensor(plan.inputs, parameter.name) != nullptr;
}

// A call in task.toml names a plain function and passes axes, scalars and tensors, each as it is.
bool needs_wrapper(const TaskPlan& plan, const Signature& reference) {
  const bool copies = std::ranges::any_of(
      plan.inputs, [](const PlannedTensor& tensor) { return !tensor.copied_to.empty(); });
  const bool fixes =
      std::ranges::any_of(reference.parameters, [&plan](const EntryParameter& parameter) {
        const auto& list = parameter.role == Role::scalar ? plan.scalars : plan.axes;
        return plan.workspace.contains(parameter.name) ||
               ((parameter.role == Role::scalar || parameter.role == Role::axis ||
                 parameter.role == Role::flag) &&
                std::ranges::find(list, parameter.name) == list.end());
      });
  const bool not_const = std::ranges::any_of(
      reference.parameters,
      [&plan](const EntryParameter& parameter) { return is_read_without_const(plan, parameter); });
  return copies || fixes || not_const || reference.function.find("::") != std::string::npos;
}

// Everything the wrapper is given: axes, scalars, inputs and outputs.
std::vector<std::string> wrapper_arguments(const TaskPlan& plan) {
  std::vector<std::string> names = plan.axes;
  names.insert(names.end(), plan.scalars.begin(), plan.scalars.end());
  for (const auto* list : {&plan.inputs, &plan.outputs}) {
    for (const PlannedTensor& tensor : *list) {
      names.push_back(tensor.name);
    }
  }
  return names;
}

std::string reference_call(const TaskPlan& plan, const Signature& reference) {
  if (needs_wrapper(plan, reference)) {
    return fmt::format("kp_reference({})", fmt::join(wrapper_arguments(plan), ", "));
  }
  std::vector<std::string> names(reference.parameters.size());
  std::ranges::transform(reference.parameters, names.begin(), &EntryParameter::name);
  return fmt::format("{}({})", reference.function, fmt::join(names, ", "));
}

std::string shapes_section(const TaskPlan& plan) {
  const Sizes sizes = default_sizes(plan.axes.size(), plan.backend == Backend::cuda);
  std::vector<std::string> timed;
  std::vector<std::string> held_out;
  for (const std::string& axis : plan.axes) {
    if (plan.derived.contains(axis)) {
      continue;
    }
    const auto size = plan.sizes.find(axis);
    timed.push_back(
        fmt::format("{} = {}", axis, size == plan.sizes.end() ? sizes.timed : size->second));
    const auto found = plan.held_out.find(axis);
    const AxisRange range =
        found == plan.held_out.end() ? AxisRange{1, sizes.held_out} : found->second;
    held_out.push_back(fmt::format("{} = {}", axis, range_text(range)));
  }
  return fmt::format(
      "# Set these to the sizes that matter to you: `timed` are measured; from the ranges of\n"
      "# `held_out` new sizes are drawn in every evaluation, to check correctness only.\n"
      "[shapes]\ntimed = [ {{ {} }} ]\nheld_out = {{ {} }}\n\n",
      fmt::join(timed, ", "), fmt::join(held_out, ", "));
}

std::string head_section(const TaskPlan& plan, const std::string& remark) {
  std::string text = fmt::format(
      "schema = 1\nname = \"{}\"\nfamily = \"user\"\nsummary = {}\n"
      "# The length over which rounding accumulates: the number of terms in one result's sum.\n"
      "reduction = {}\n\n"
      "# The order is the order of context->axes.\n[axes]\n",
      plan.name,
      toml_string(fmt::format("{} from {}{}",
                              plan.heading.empty() ? plan.signature.function : plan.heading,
                              plan.source_name, remark)),
      toml_string(plan.reduction));
  for (const std::string& axis : plan.axes) {
    const auto formula = plan.derived.find(axis);
    text +=
        axis + " = " + (formula == plan.derived.end() ? "{}" : toml_string(formula->second)) + "\n";
  }
  return text + "\n";
}

// The mapping of the function's parameters.
std::string entry_section(const TaskPlan& plan) {
  std::string text = fmt::format(
      "# What candidates define instead of kp_launch, and what it is called with.\n"
      "[entry]\nfunction = {}\nsignature = {}\nbackend = \"{}\"\narguments = {}\n",
      toml_string(plan.signature.function), toml_string(plan.signature.text), name_of(plan.backend),
      toml_strings(plan.arguments));
  std::vector<std::string> copies;
  for (const PlannedTensor& input : plan.inputs) {
    if (!input.copied_to.empty()) {
      copies.push_back(fmt::format("{} = \"{}\"", input.copied_to, input.name));
    }
  }
  std::vector<std::string> workspace;
  workspace.reserve(plan.workspace.size());
  for (const auto& [name, bytes] : plan.workspace) {
    workspace.push_back(fmt::format("{} = {}", name, toml_string(bytes)));
  }
  if (!copies.empty()) {
    text += fmt::format(
        "# Inputs are read-only: what is read and written is copied before each call.\n"
        "copies = {{ {} }}\n",
        fmt::join(copies, ", "));
  }
  if (!workspace.empty()) {
    text += fmt::format("# In bytes; filled with rubbish before each call.\nworkspace = {{ {} }}\n",
                        fmt::join(workspace, ", "));
  }
  return text + "\n";
}

std::string reference_section(const TaskPlan& plan, const std::optional<Signature>& reference) {
  if (!reference) {
    return "# Expected values are those of the baseline, within rounding. For a judge that does "
           "not\n"
           "# trust it, name a C++ function instead: file = \"reference.hpp\", call = \"f(n, x, "
           "y)\".\n"
           "[reference]\nbaseline = true\n\n";
  }
  return fmt::format("[reference]\nfile = \"reference.hpp\"\ncall = \"{}\"\n\n",
                     reference_call(plan, *reference));
}

std::string baseline_section(const TaskPlan& plan, bool openmp) {
  if (plan.backend == Backend::cuda) {
    return fmt::format(
        "[[baseline]]\nname = \"original\"\nbackend = \"cuda\"\nfile = \"baseline.cu\"\n"
        "compiler = \"nvcc\"\noptions = {}\n",
        toml_strings(plan.options.empty() ? std::vector<std::string>{"-O3"} : plan.options));
  }
  std::vector<std::string> options = plan.options;
  if (options.empty()) {
    options.emplace_back("-O2");
  }
  if (openmp && std::ranges::find(options, "openmp") == options.end()) {
    options.emplace_back("openmp");
  }
  return fmt::format(
      "[[baseline]]\nname = \"original\"\nbackend = \"cpu\"\nfile = \"baseline.cpp\"\n"
      "options = {}\n",
      toml_strings(options));
}

std::string element_of(const PlannedTensor& tensor) {
  return is_floating(tensor.dtype) ? "Real" : std::string(cpp_type(tensor.dtype));
}

// Scratch memory for the reference; an element for each byte is enough for every type.
std::string scratch_text(const TaskPlan& plan, const Signature& reference) {
  std::string text;
  for (const EntryParameter& parameter : reference.parameters) {
    if (const auto bytes = plan.workspace.find(parameter.name); bytes != plan.workspace.end()) {
      const bool real = parameter.role == Role::untyped || is_floating(parameter.dtype);
      text += fmt::format("  std::vector<{}> {}(static_cast<std::size_t>({}));\n",
                          real ? "Real" : cpp_type(parameter.dtype), parameter.name, bytes->second);
    }
  }
  return text;
}

// What the wrapper passes to the reference for a parameter.
std::string passed(const TaskPlan& plan, const EntryParameter& parameter) {
  const auto place =
      std::ranges::find(plan.signature.parameters, parameter.name, &EntryParameter::name) -
      plan.signature.parameters.begin();
  const std::string& argument = plan.arguments[static_cast<std::size_t>(place)];
  if (plan.workspace.contains(parameter.name)) {
    return parameter.name + ".data()";
  }
  if (is_read_without_const(plan, parameter)) {
    return fmt::format("const_cast<{}*>({})",
                       is_floating(parameter.dtype) ? "Real" : cpp_type(parameter.dtype), argument);
  }
  return parameter.role == Role::scalar && argument != parameter.name ? "Real(" + argument + ")"
                                                                      : argument;
}

}  // namespace

std::string generate_toml(const TaskPlan& plan, const std::optional<Signature>& reference,
                          bool openmp) {
  std::string text =
      head_section(plan, reference ? "" : "; expected values are those of the original");
  for (const PlannedTensor& tensor : plan.inputs) {
    text += tensor_section("input", tensor);
  }
  for (const PlannedTensor& tensor : plan.outputs) {
    text += tensor_section("output", tensor);
  }
  for (const EntryParameter& parameter : plan.signature.parameters) {
    if (std::ranges::find(plan.scalars, parameter.name) != plan.scalars.end()) {
      const auto range = plan.scalar_ranges.find(parameter.name);
      text += fmt::format("[[scalar]]\nname = \"{}\"\ndtype = \"{}\"\nrange = {}\n\n",
                          parameter.name, name_of(parameter.dtype),
                          range == plan.scalar_ranges.end() ? "[0.5, 2.0]" : range->second);
    }
  }
  text += "# The work of one call: operations, and the least traffic (every tensor moved once).\n";
  if (plan.flops == "0") {
    text += "# flops = \"0\" means not declared: set it (like \"2*n\") for a bound on compute.\n";
  }
  text += fmt::format("[work]\nflops = {}\nbytes = {}\n\n", toml_string(plan.flops),
                      toml_string(bytes_formula(plan)));
  text += shapes_section(plan);
  text += reference_section(plan, reference);
  text += entry_section(plan);
  return text + baseline_section(plan, openmp);
}

std::string generate_reference(const TaskPlan& plan, const Signature& reference,
                               const std::string& real_source) {
  std::string text = fmt::format(
      "// {} from {}, in terms of Real: expected values are computed with Real = double.\n"
      "#pragma once\n\n{}{}",
      reference.function, plan.source_name, plan.workspace.empty() ? "" : "#include <vector>\n",
      real_source);
  if (!needs_wrapper(plan, reference)) {
    return text;
  }
  std::vector<std::string> parameters;
  parameters.reserve(plan.axes.size());
  for (const std::string& axis : plan.axes) {
    parameters.push_back("[[maybe_unused]] std::int64_t " + axis);
  }
  for (const std::string& scalar : plan.scalars) {
    parameters.push_back("[[maybe_unused]] Real " + scalar);
  }
  for (const PlannedTensor& input : plan.inputs) {
    parameters.push_back(
        fmt::format("[[maybe_unused]] const {}* {}", element_of(input), input.name));
  }
  std::string copies;
  for (const PlannedTensor& output : plan.outputs) {
    parameters.push_back(fmt::format("{}* {}", element_of(output), output.name));
    if (const PlannedTensor* input = input_of(plan, output.name)) {
      copies += fmt::format(
          "  for (std::int64_t kp_i = 0; kp_i < {}; ++kp_i) {{\n    {}[kp_i] = {}[kp_i];\n  }}\n",
          product(input->shape), output.name, input->name);
    }
  }
  copies += scratch_text(plan, reference);
  std::vector<std::string> arguments(reference.parameters.size());
  std::ranges::transform(
      reference.parameters, arguments.begin(),
      [&plan](const EntryParameter& parameter) { return passed(plan, parameter); });
  return text + fmt::format(
                    "\n// The call of task.toml; what is read and written starts as its input.\n"
                    "inline void kp_reference({}) {{\n{}  {}({});\n}}\n",
                    fmt::join(parameters, ", "), copies, reference.function,
                    fmt::join(arguments, ", "));
}

}  // namespace kernelpro
