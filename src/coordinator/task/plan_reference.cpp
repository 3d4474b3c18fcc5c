// Whether what is trusted can be called as the task's function is.
#include <fmt/format.h>

#include <algorithm>

#include "coordinator/task/bad.hpp"
#include "coordinator/task/nearest.hpp"
#include "coordinator/task/plan.hpp"

namespace kernelpro {

Status check_reference_signature(const TaskPlan& plan, const Signature& reference,
                                 const std::string& file) {
  const auto& known = plan.signature.parameters;
  std::vector<std::string> names;
  for (const EntryParameter& parameter : known) {
    if (parameter.role != EntryParameter::Role::stream &&
        !plan.workspace.contains(parameter.name)) {
      names.push_back(parameter.name);
    }
  }
  for (const EntryParameter& parameter : reference.parameters) {
    if (std::ranges::find(names, parameter.name) == names.end()) {
      return bad(file, fmt::format("the reference's parameter {} is none of the entry's{}",
                                   parameter.name, suggest(parameter.name, names)));
    }
    const auto entry = std::ranges::find(known, parameter.name, &EntryParameter::name);
    const bool same = is_floating(entry->dtype) == is_floating(parameter.dtype) &&
                      (is_floating(entry->dtype) || entry->dtype == parameter.dtype);
    const bool pointer = parameter.role == EntryParameter::Role::input ||
                         parameter.role == EntryParameter::Role::output ||
                         parameter.role == EntryParameter::Role::untyped;
    const bool not_const =
        parameter.role == EntryParameter::Role::output &&
        std::ranges::find(plan.only_read, parameter.name) != plan.only_read.end();
    if ((entry->role != parameter.role && !not_const) || (pointer && !same)) {
      return bad(file, fmt::format("{} is another kind of parameter in the reference than in `{}`",
                                   parameter.name, plan.signature.text));
    }
  }
  for (const PlannedTensor& output : plan.outputs) {
    if (std::ranges::find(reference.parameters, output.name, &EntryParameter::name) ==
        reference.parameters.end()) {
      return bad(file, fmt::format("the reference has no parameter {} to write", output.name));
    }
  }
  return {};
}

}  // namespace kernelpro
