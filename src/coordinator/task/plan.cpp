#include "coordinator/task/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "common/model/formula.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/nearest.hpp"

namespace kernelpro {
namespace {

Error bad(const std::string& flag, const std::string& message) {
  return make_error(ErrorKind::bad_input, message, flag);
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// A formula that C++ computes as the task does: + - * over names and whole numbers.
bool is_plain_arithmetic(const std::string& formula) {
  if (formula.find_first_of("/.,") != std::string::npos) {
    return false;
  }
  const auto tokens = lex_cpp(formula);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::word && tokens[i + 1].text == "(") {
      return false;
    }
  }
  return true;
}

class Planner {
 public:
  Planner(const NewTask& request, const Signature& signature) : request_(request) {
    plan_.name = request.name;
    plan_.source_name = request.source.filename().string();
    plan_.signature = signature;
    plan_.flops = request.flops.empty() ? "0" : request.flops;
    plan_.reduction = request.reduction.empty() ? "1" : request.reduction;
  }

  Result<TaskPlan> run() {
    KP_TRY(collect_names());
    KP_TRY(check_flag_names());
    KP_TRY(check_formula("--flops", plan_.flops));
    KP_TRY(check_formula("--reduction", plan_.reduction));
    KP_TRY(check_all_given());
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      KP_TRY(plan_tensor(parameter));
    }
    KP_TRY(check_row_pointers());
    return plan_;
  }

 private:
  Status collect_names() {
    for (const EntryParameter& parameter : plan_.signature.parameters) {
      switch (parameter.role) {
        case EntryParameter::Role::axis:
          plan_.axes.push_back(parameter.name);
          break;
        case EntryParameter::Role::scalar:
          plan_.scalars.push_back(parameter.name);
          break;
        case EntryParameter::Role::input:
          inputs_.push_back(parameter.name);
          break;
        case EntryParameter::Role::output:
          outputs_.push_back(parameter.name);
          break;
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

  Status check_flag_names() {
    std::vector<std::string> pointers = inputs_;
    pointers.insert(pointers.end(), outputs_.begin(), outputs_.end());
    for (const auto& [name, shape] : request_.shapes) {
      if (!contains(pointers, name)) {
        return bad("--shape " + name,
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
      if (!contains(inputs_, name) && !contains(request_.inouts, name)) {
        return bad("--values " + name, "there is no input of this name" + suggest(name, inputs_));
      }
    }
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
      const bool tensor = parameter.role == EntryParameter::Role::input ||
                          parameter.role == EntryParameter::Role::output;
      if (tensor && plan_.axes.size() > 1 && !request_.shapes.contains(parameter.name)) {
        unknown.push_back("the shape of " + parameter.name);
        flags.push_back(
            fmt::format("--shape {}={},{}", parameter.name, plan_.axes[0], plan_.axes[1]));
      }
      const bool read = parameter.role == EntryParameter::Role::input ||
                        contains(request_.inouts, parameter.name);
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
    if (parameter.role != EntryParameter::Role::input &&
        parameter.role != EntryParameter::Role::output) {
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
    const bool inout = contains(request_.inouts, parameter.name);
    if (inout && !std::ranges::all_of(tensor.shape, is_plain_arithmetic)) {
      return bad(flag, "the shape of an --inout must be made of axes, whole numbers, + - and *");
    }
    if (parameter.role == EntryParameter::Role::output) {
      plan_.outputs.push_back(tensor);
    }
    if (parameter.role == EntryParameter::Role::input || inout) {
      auto values = plan_values(parameter);
      if (!values.ok()) {
        return values.error();
      }
      tensor.values = *values;
      tensor.copied_to = inout ? parameter.name : "";
      tensor.name += inout ? "_in" : "";
      plan_.inputs.push_back(std::move(tensor));
    }
    return {};
  }

  Result<std::string> plan_values(const EntryParameter& parameter) {
    const auto given = request_.values.find(parameter.name);
    if (given == request_.values.end()) {
      return std::string();
    }
    const std::string flag = fmt::format("--values {}={}", given->first, given->second);
    const std::vector<std::string> parts = split(given->second, ':');
    const std::string kind = parts.empty() ? "" : parts[0];
    if (is_floating(parameter.dtype) ? kind != "uniform" : kind == "normal") {
      return bad(flag, fmt::format("{} holds {}; {}", parameter.name, name_of(parameter.dtype),
                                   is_floating(parameter.dtype)
                                       ? "expected uniform:LOW:HIGH (normal is the default)"
                                       : "expected index, offsets, csr_columns or uniform"));
    }
    if (kind == "uniform" && parts.size() == 3) {
      const auto low = parse_number(parts[1]);
      const auto high = parse_number(parts[2]);
      if (!low || !high || *low >= *high) {
        return bad(flag, "expected two numbers, the lower first: uniform:LOW:HIGH");
      }
      return fmt::format("{{ kind = \"uniform\", low = {}, high = {} }}", *low, *high);
    }
    const bool bounded = (kind == "index" || kind == "offsets") && parts.size() == 2;
    const bool columns = kind == "csr_columns" && parts.size() == 3;
    if (!bounded && !columns) {
      return bad(flag,
                 "expected index:BOUND, offsets:BOUND, csr_columns:BOUND:ROWPTR or "
                 "uniform:LOW:HIGH");
    }
    KP_TRY(check_formula(flag, parts[1]));
    if (kind == "offsets") {
      row_pointers_.push_back(parameter.name);
    }
    std::string rows;
    if (columns) {
      wanted_rows_.emplace(flag, parts[2]);
      rows = ", rows_of = " + quoted(parts[2]);
    }
    return fmt::format(R"({{ kind = "{}", bound = "{}"{} }})", kind, parts[1], rows);
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
  std::vector<std::string> row_pointers_;
  std::map<std::string, std::string> wanted_rows_;  // by flag
};

}  // namespace

Result<TaskPlan> plan_task(const NewTask& request, const Signature& signature) {
  return Planner(request, signature).run();
}

}  // namespace kernelpro
