#include "coordinator/task/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/model/formula.hpp"
#include "coordinator/task/adapt.hpp"
#include "coordinator/task/bad.hpp"
#include "coordinator/task/nearest.hpp"
#include "coordinator/task/plan_values.hpp"

namespace kernelpro {
namespace {

using Role = EntryParameter::Role;

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

bool is_pointer(const EntryParameter& parameter) {
  return parameter.role == Role::input || parameter.role == Role::output ||
         parameter.role == Role::untyped;
}

class Planner {
 public:
  Planner(const NewTask& request, const Signature& signature) : request_(request) {
    plan_.name = request.name;
    plan_.source_name = request.source.filename().string();
    plan_.backend = request.source.extension() == ".cu" ? Backend::cuda : Backend::cpu;
    plan_.signature = signature;
    plan_.flops = request.flops.empty() ? "0" : request.flops;
    plan_.reduction = request.reduction.empty() ? "1" : request.reduction;
    plan_.derived = request.derived;
    plan_.sizes = request.sizes;
    plan_.held_out = request.held_out;
    plan_.options = request.options;
    plan_.only_read = request.only_read;
    for (EntryParameter& parameter : plan_.signature.parameters) {
      if (contains(request.only_read, parameter.name) && parameter.role == Role::output) {
        parameter.role = Role::input;
      }
    }
  }

  Result<TaskPlan> run() {
    KP_TRY(check_declared());
    KP_TRY(collect_names());
    KP_TRY(check_flag_names());
    KP_TRY(check_fixed());
    KP_TRY(check_axes());
    KP_TRY(check_formula("--flops", plan_.flops));
    KP_TRY(check_formula("--reduction", plan_.reduction));
    KP_TRY(check_all_given());
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      KP_TRY(plan_tensor(parameter));
    }
    KP_TRY(check_row_pointers());
    add_arguments();
    return plan_;
  }

 private:
  [[nodiscard]] bool is_fixed(const EntryParameter& parameter) const {
    return request_.fixed.contains(parameter.name);
  }
  [[nodiscard]] bool is_workspace(const EntryParameter& parameter) const {
    return contains(request_.workspaces, parameter.name);
  }

  // Parameters that only a flag can explain.
  Status check_declared() const {
    const std::string& function = plan_.signature.function;
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      const std::string& name = parameter.name;
      if (parameter.role == Role::stream && plan_.backend != Backend::cuda) {
        return bad(function, fmt::format("{} is a stream, and this is no CUDA source; expected a "
                                         "file that ends in .cu (--from)",
                                         name));
      }
      if (parameter.role == Role::flag && !is_fixed(parameter)) {
        return bad(function, fmt::format("{} is a switch, and a task judges one setting of it; say "
                                         "which: --fix {}=1",
                                         name, name));
      }
      if (parameter.role == Role::untyped && !is_workspace(parameter)) {
        return bad(function, fmt::format("{} points to void, so its elements have no type; declare "
                                         "scratch memory with --workspace {} and its bytes with "
                                         "--shape, or give it a type",
                                         name, name));
      }
    }
    return {};
  }

  Status collect_names() {
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      const std::string& name = parameter.name;
      if (parameter.role == Role::axis || parameter.role == Role::flag) {
        (is_fixed(parameter) ? fixed_ : plan_.axes).push_back(name);
      } else if (parameter.role == Role::scalar) {
        (is_fixed(parameter) ? fixed_ : plan_.scalars).push_back(name);
      } else if (parameter.role == Role::input) {
        inputs_.push_back(name);
      } else if (is_pointer(parameter)) {
        (is_workspace(parameter) ? workspaces_ : outputs_).push_back(name);
      }
    }
    plan_.axes.insert(plan_.axes.end(), request_.more_axes.begin(), request_.more_axes.end());
    for (const auto& [name, formula] : request_.derived) {
      if (!contains(plan_.axes, name)) {
        plan_.axes.push_back(name);
      }
    }
    const std::string& function = plan_.signature.function;
    if (plan_.axes.empty()) {
      return bad(function,
                 "it takes no whole number by value; a task needs at least one axis, so "
                 "pass the sizes as parameters");
    }
    if (outputs_.empty()) {
      return bad(function,
                 "it writes nothing: every pointer is const; expected at least one "
                 "pointer to non-const for the result");
    }
    return {};
  }

  // Each must be a number or, for a whole number, plain arithmetic over axes.
  Status check_fixed() const {
    for (const auto& [name, value] : request_.fixed) {
      const std::string flag = fmt::format("--fix {}={}", name, value);
      if (!contains(fixed_, name)) {
        return bad(flag, "there is no number by value of this name" + suggest(name, plan_.axes));
      }
      const auto parameter =
          std::ranges::find(plan_.signature.parameters, name, &EntryParameter::name);
      if (parameter->role == Role::scalar) {
        if (!parse_number(value)) {
          return bad(flag, "expected a number");
        }
        continue;
      }
      KP_TRY(check_formula(flag, value));
      if (!is_plain_arithmetic(value)) {
        return bad(flag, "expected axes and whole numbers with + - * and /");
      }
    }
    return {};
  }

  // What --axis, --size and --held-out speak of.
  Status check_axes() const {
    for (const auto& [name, formula] : request_.derived) {
      KP_TRY(check_formula(fmt::format("--axis {}={}", name, formula), formula));
    }
    const auto check_name = [this](const std::string& flag, const std::string& name) -> Status {
      if (!contains(plan_.axes, name) || plan_.derived.contains(name)) {
        return bad(flag, "there is no size of this name that is given" + suggest(name, plan_.axes));
      }
      return {};
    };
    for (const auto& [name, size] : request_.sizes) {
      KP_TRY(check_name(fmt::format("--size {}={}", name, size), name));
    }
    for (const auto& [name, range] : request_.held_out) {
      KP_TRY(check_name("--held-out " + name + "=" + range_text(range), name));
    }
    return {};
  }

  // What is passed for each parameter, as task.toml says it.
  void add_arguments() {
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      const auto fixed = request_.fixed.find(parameter.name);
      if (fixed != request_.fixed.end()) {
        plan_.arguments.push_back(fixed->second);
      } else {
        plan_.arguments.push_back(parameter.role == Role::stream ? "stream" : parameter.name);
      }
    }
  }

  Status check_flag_names() {
    std::vector<std::string> pointers = inputs_;
    pointers.insert(pointers.end(), outputs_.begin(), outputs_.end());
    pointers.insert(pointers.end(), workspaces_.begin(), workspaces_.end());
    for (const std::string& name : request_.workspaces) {
      if (!contains(workspaces_, name)) {
        return bad("--workspace " + name, "there is no non-const pointer parameter of this name" +
                                              suggest(name, outputs_));
      }
    }
    for (const auto& [name, shape] : request_.shapes) {
      if (!contains(pointers, name)) {
        return bad("--shape " + name,
                   "there is no pointer parameter of this name" + suggest(name, pointers));
      }
    }
    for (const std::string& name : request_.only_read) {
      if (!contains(inputs_, name)) {
        return bad("--input " + name,
                   "there is no pointer parameter of this name" + suggest(name, pointers));
      }
    }
    for (const std::string& name : request_.inouts) {
      if (!contains(outputs_, name)) {
        return bad("--inout " + name, "there is no non-const pointer parameter of this name" +
                                          suggest(name, outputs_));
      }
      if (contains(pointers, name + "_in") || contains(plan_.axes, name + "_in") ||
          contains(plan_.scalars, name + "_in")) {
        return bad("--inout " + name,
                   fmt::format("its input would be called {}_in, and a parameter has that name "
                               "already; rename the parameter",
                               name));
      }
    }
    for (const auto& [name, values] : request_.values) {
      if (contains(plan_.scalars, name)) {
        KP_TRY(plan_scalar(name, values));
      } else if (!contains(inputs_, name) && !contains(request_.inouts, name)) {
        return bad("--values " + name, "there is no input of this name" + suggest(name, inputs_));
      }
    }
    return {};
  }

  Status plan_scalar(const std::string& name, const std::string& values) {
    const auto range = parse_range(values);
    if (!range) {
      return bad(fmt::format("--values {}={}", name, values),
                 fmt::format("{0} is a number by value; expected uniform:LOW:HIGH, or one number "
                             "for all calls: --fix {0}=1",
                             name));
    }
    plan_.scalar_ranges[name] = fmt::format("[{}, {}]", range->low, range->high);
    return {};
  }

  Status check_formula(const std::string& flag, const std::string& text) const {
    const auto formula = Formula::parse(text);
    if (!formula.ok()) {
      return bad(flag, formula.error().text());
    }
    for (const std::string& name : formula->names()) {
      if (!contains(plan_.axes, name)) {
        return bad(flag, fmt::format("\"{}\" is not an axis{}", name, suggest(name, plan_.axes)));
      }
    }
    return {};
  }

  // What the signature leaves open and no flag settles, all of it in one message.
  Status check_all_given() const {
    std::vector<std::string> unknown;
    std::vector<std::string> flags;
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      if (is_pointer(parameter) && plan_.axes.size() > 1 &&
          !request_.shapes.contains(parameter.name)) {
        unknown.push_back("the shape of " + parameter.name);
        flags.push_back(
            fmt::format("--shape {}={},{}", parameter.name, plan_.axes[0], plan_.axes[1]));
      }
      const bool read = parameter.role == Role::input || contains(request_.inouts, parameter.name);
      if (read && !is_floating(parameter.dtype) && !request_.values.contains(parameter.name)) {
        unknown.push_back("the values of " + parameter.name);
        flags.push_back(fmt::format("--values {}=index:{}", parameter.name, plan_.axes[0]));
      }
    }
    if (unknown.empty()) {
      return {};
    }
    return bad(plan_.signature.function,
               fmt::format("the signature does not tell {}; add flags like {} with the right axes "
                           "(values: index:BOUND, offsets:BOUND or csr_columns:BOUND:ROWPTR)",
                           fmt::join(unknown, ", "), fmt::join(flags, " ")));
  }

  Status plan_tensor(const EntryParameter& parameter) {
    if (!is_pointer(parameter)) {
      return {};
    }
    PlannedTensor tensor{.name = parameter.name,
                         .dtype = parameter.dtype,
                         .shape = {plan_.axes[0]},
                         .values = "",
                         .copied_to = ""};
    const std::string flag = "--shape " + parameter.name;
    if (const auto given = request_.shapes.find(parameter.name); given != request_.shapes.end()) {
      tensor.shape = given->second;
    }
    if (tensor.shape.empty()) {
      return bad(flag, "expected the extents, like --shape A=m,k");
    }
    for (const std::string& extent : tensor.shape) {
      KP_TRY(check_formula(flag, extent));
    }
    if (is_workspace(parameter)) {
      return plan_workspace(parameter, tensor.shape);
    }
    const bool inout = contains(request_.inouts, parameter.name);
    if (inout && !std::ranges::all_of(tensor.shape, is_plain_arithmetic)) {
      return bad(flag, "the shape of an --inout must be made of axes, whole numbers, + - * and /");
    }
    if (parameter.role == Role::output) {
      plan_.outputs.push_back(tensor);
    }
    if (parameter.role == Role::input || inout) {
      KP_LET(tensor.values, plan_values(parameter));
      tensor.copied_to = inout ? parameter.name : "";
      tensor.name += inout ? "_in" : "";
      plan_.inputs.push_back(std::move(tensor));
    }
    return {};
  }

  Status plan_workspace(const EntryParameter& parameter, const std::vector<std::string>& shape) {
    if (!std::ranges::all_of(shape, is_plain_arithmetic)) {
      return bad("--shape " + parameter.name,
                 "the shape of a --workspace must be made of axes, whole numbers, + - * and /");
    }
    const std::size_t element = parameter.role == Role::untyped ? 1 : size_of(parameter.dtype);
    std::string bytes = std::to_string(element);
    for (const std::string& extent : shape) {
      bytes += "*(" + extent + ")";
    }
    plan_.workspace[parameter.name] = bytes;
    return {};
  }

  Result<std::string> plan_values(const EntryParameter& parameter) {
    const auto given = request_.values.find(parameter.name);
    if (given == request_.values.end()) {
      return std::string();
    }
    const std::string flag = fmt::format("--values {}={}", given->first, given->second);
    KP_LET(PlannedValues values, parse_values(parameter, flag, given->second));
    if (values.bound) {
      KP_TRY(check_formula(flag, *values.bound));
    }
    if (values.offsets) {
      row_pointers_.push_back(parameter.name);
    }
    if (values.rows_of) {
      wanted_rows_.emplace(flag, *values.rows_of);
    }
    return std::move(values.toml);
  }

  Status check_row_pointers() const {
    for (const auto& [flag, name] : wanted_rows_) {
      if (!contains(row_pointers_, name)) {
        return bad(flag, fmt::format("\"{}\" is not an input with offsets; add --values "
                                     "{}=offsets:BOUND{}",
                                     name, name, suggest(name, row_pointers_)));
      }
    }
    return {};
  }

  const NewTask& request_;
  TaskPlan plan_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::vector<std::string> workspaces_;
  std::vector<std::string> fixed_;
  std::vector<std::string> row_pointers_;
  std::map<std::string, std::string> wanted_rows_;  // by flag
};

}  // namespace

Result<TaskPlan> plan_task(const NewTask& request, const Signature& signature) {
  return Planner(request, signature).run();
}

}  // namespace kernelpro
