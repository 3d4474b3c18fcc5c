#include "coordinator/task/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

using Role = EntryParameter::Role;

// One axis: about a million elements. More axes: less each, so that a set stays in the megabytes.
struct Sizes {
  std::int64_t timed;
  std::int64_t held_out;
};

Sizes default_sizes(std::size_t axes) {
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

// A call in task.toml names a plain function and passes each tensor once.
bool needs_wrapper(const TaskPlan& plan) {
  const bool has_inout = std::ranges::any_of(
      plan.inputs, [](const PlannedTensor& tensor) { return !tensor.copied_to.empty(); });
  return has_inout || plan.signature.function.find("::") != std::string::npos;
}

const PlannedTensor* find_tensor(const std::vector<PlannedTensor>& list, const std::string& name) {
  const auto found =
      std::ranges::find_if(list, [&](const PlannedTensor& tensor) { return tensor.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// The arguments of the reference's call: the function's own, an inout's input before its output.
std::vector<std::string> reference_arguments(const TaskPlan& plan) {
  std::vector<std::string> names;
  for (const EntryParameter& parameter : plan.signature.parameters) {
    if (find_tensor(plan.inputs, parameter.name + "_in") != nullptr &&
        parameter.role == Role::output) {
      names.push_back(parameter.name + "_in");
    }
    names.push_back(parameter.name);
  }
  return names;
}

std::string shapes_section(const TaskPlan& plan) {
  const Sizes sizes = default_sizes(plan.axes.size());
  std::vector<std::string> timed;
  std::vector<std::string> held_out;
  for (const std::string& axis : plan.axes) {
    timed.push_back(fmt::format("{} = {}", axis, sizes.timed));
    held_out.push_back(fmt::format("{} = [1, {}]", axis, sizes.held_out));
  }
  return fmt::format(
      "# Set these to the sizes that matter to you: `timed` are measured; from the ranges of\n"
      "# `held_out` new sizes are drawn in every evaluation, to check correctness only.\n"
      "[shapes]\ntimed = [ {{ {} }} ]\nheld_out = {{ {} }}\n\n",
      fmt::join(timed, ", "), fmt::join(held_out, ", "));
}

std::string head_section(const TaskPlan& plan) {
  std::string text = fmt::format(
      "schema = 1\nname = \"{}\"\nfamily = \"user\"\nsummary = {}\n"
      "# The length over which rounding accumulates: the number of terms in one result's sum.\n"
      "reduction = {}\n\n"
      "# The order is the order of context->axes.\n[axes]\n",
      plan.name, toml_string(fmt::format("{} from {}", plan.signature.function, plan.source_name)),
      toml_string(plan.reduction));
  for (const std::string& axis : plan.axes) {
    text += axis + " = {}\n";
  }
  return text + "\n";
}

// What the adapter passes for each parameter, in the function's order.
std::vector<std::string> adapter_arguments(const TaskPlan& plan) {
  const auto index_in = [](const auto& list, const auto& is_it) {
    return std::find_if(list.begin(), list.end(), is_it) - list.begin();
  };
  std::vector<std::string> arguments;
  for (const EntryParameter& parameter : plan.signature.parameters) {
    const auto has_name = [&](const PlannedTensor& tensor) {
      return tensor.name == parameter.name;
    };
    const auto is_name = [&](const std::string& name) { return name == parameter.name; };
    const std::string& type = parameter.type;
    switch (parameter.role) {
      case Role::axis:
        arguments.push_back(
            fmt::format("static_cast<{}>(context->axes[{}])", type, index_in(plan.axes, is_name)));
        break;
      case Role::scalar:
        arguments.push_back(fmt::format("static_cast<{}>(context->scalars[{}])", type,
                                        index_in(plan.scalars, is_name)));
        break;
      case Role::input:
        arguments.push_back(fmt::format("static_cast<const {}*>(tensors[{}].data)", type,
                                        index_in(plan.inputs, has_name)));
        break;
      case Role::output:
        arguments.push_back(fmt::format(
            "static_cast<{}*>(tensors[{}].data)", type,
            index_in(plan.outputs, has_name) + static_cast<std::ptrdiff_t>(plan.inputs.size())));
        break;
    }
  }
  return arguments;
}

// The statements that copy each inout's input to its output.
std::string adapter_copies(const TaskPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlannedTensor& input = plan.inputs[i];
    for (std::size_t o = 0; o < plan.outputs.size() && !input.copied_to.empty(); ++o) {
      if (plan.outputs[o].name == input.copied_to) {
        text +=
            fmt::format("  kp_copy_tensor(tensors[{}], tensors[{}]);\n", i, plan.inputs.size() + o);
      }
    }
  }
  return text;
}

constexpr const char* copy_function =
    "static void kp_copy_tensor(const kp_tensor& from, const kp_tensor& to) {\n"
    "  size_t bytes = from.dtype.bits / 8;\n"
    "  for (int32_t i = 0; i < from.rank; ++i) {\n"
    "    bytes *= static_cast<size_t>(from.shape[i]);\n"
    "  }\n"
    "  std::memcpy(to.data, from.data, bytes);\n"
    "}\n\n";

// C's keyword, which C++ compilers know by another name.
bool uses_restrict(const std::string& source) {
  const auto tokens = lex_cpp(source);
  return std::ranges::any_of(tokens, [](const Token& token) { return token.text == "restrict"; });
}

}  // namespace

std::string generate_toml(const TaskPlan& plan, bool openmp) {
  std::string text = head_section(plan);
  for (const PlannedTensor& tensor : plan.inputs) {
    text += tensor_section("input", tensor);
  }
  for (const PlannedTensor& tensor : plan.outputs) {
    text += tensor_section("output", tensor);
  }
  for (const EntryParameter& parameter : plan.signature.parameters) {
    if (parameter.role == Role::scalar) {
      text += fmt::format("[[scalar]]\nname = \"{}\"\ndtype = \"{}\"\nrange = [0.5, 2.0]\n\n",
                          parameter.name, name_of(parameter.dtype));
    }
  }
  text += "# The work of one call: operations, and the least traffic (every tensor moved once).\n";
  if (plan.flops == "0") {
    text += "# flops = \"0\" means not declared: set it (like \"2*n\") for a bound on compute.\n";
  }
  text += fmt::format("[work]\nflops = {}\nbytes = {}\n\n", toml_string(plan.flops),
                      toml_string(bytes_formula(plan)));
  text += shapes_section(plan);
  const std::string function = needs_wrapper(plan) ? "kp_reference" : plan.signature.function;
  text += fmt::format("[reference]\nfile = \"reference.hpp\"\ncall = \"{}({})\"\n\n", function,
                      fmt::join(reference_arguments(plan), ", "));
  text += fmt::format(
      "[[baseline]]\nname = \"original\"\nbackend = \"cpu\"\nfile = \"baseline.cpp\"\n"
      "options = [\"-O2\"{}]\n",
      openmp ? ", \"openmp\"" : "");
  return text;
}

std::string generate_reference(const TaskPlan& plan, const std::string& real_source) {
  std::string text = fmt::format(
      "// {} from {}, in terms of Real: expected values are computed with Real = double.\n"
      "#pragma once\n\n{}",
      plan.signature.function, plan.source_name, real_source);
  if (!needs_wrapper(plan)) {
    return text;
  }
  std::vector<std::string> parameters;
  std::vector<std::string> arguments;
  std::string copies;
  for (const EntryParameter& parameter : plan.signature.parameters) {
    const std::string& name = parameter.name;
    const std::string element =
        is_floating(parameter.dtype) ? "Real" : std::string(cpp_type(parameter.dtype));
    arguments.push_back(name);
    if (parameter.role == Role::axis) {
      parameters.push_back("std::int64_t " + name);
    } else if (parameter.role == Role::scalar) {
      parameters.push_back("Real " + name);
    } else if (parameter.role == Role::input) {
      parameters.push_back(fmt::format("const {}* {}", element, name));
    } else {
      if (const PlannedTensor* input = find_tensor(plan.inputs, name + "_in")) {
        parameters.push_back(fmt::format("const {}* {}_in", element, name));
        copies += fmt::format(
            "  for (std::int64_t kp_i = 0; kp_i < {}; ++kp_i) {{\n    {}[kp_i] = {}_in[kp_i];\n"
            "  }}\n",
            product(input->shape), name, name);
      }
      parameters.push_back(fmt::format("{}* {}", element, name));
    }
  }
  return text + fmt::format(
                    "\n// The call of task.toml; what is read and written starts as its input.\n"
                    "inline void kp_reference({}) {{\n{}  {}({});\n}}\n",
                    fmt::join(parameters, ", "), copies, plan.signature.function,
                    fmt::join(arguments, ", "));
}

std::string generate_baseline(const TaskPlan& plan, const std::string& source) {
  const bool keyword = uses_restrict(source);
  const std::string copies = adapter_copies(plan);
  std::string text = fmt::format("// {} from {}, behind the candidate's interface.\n",
                                 plan.signature.function, plan.source_name);
  text += copies.empty() ? "" : "#include <cstring>\n\n";
  text += "#include \"kernelpro/candidate.h\"\n\n";
  text += keyword ? "#define restrict __restrict__\n" : "";
  text += source + "\n";
  text += keyword ? "#undef restrict\n\n" : "";
  text += copies.empty() ? "" : copy_function;
  text +=
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) "
      "{\n" +
      copies;
  const std::string call = fmt::format("{}({})", plan.signature.function,
                                       fmt::join(adapter_arguments(plan), ",\n      "));
  text += plan.signature.returns_int ? "  return " + call + ";\n}\n"
                                     : "  " + call + ";\n  return 0;\n}\n";
  return text;
}

}  // namespace kernelpro
