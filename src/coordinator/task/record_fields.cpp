#include "coordinator/task/record_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/function_name.hpp"

namespace kernelpro {
namespace {

using namespace tree;
using Json = nlohmann::json;

bool is_whole_record(const Json& tree) {
  const std::string kind = text_of(tree, "kind");
  return (kind == "CXXRecordDecl" || kind == "ClassTemplateSpecializationDecl") &&
         tree.value("completeDefinition", false) && !tree.contains("bases");
}

std::optional<RecordFields> fields_of(const Json& tree) {
  RecordFields fields;
  bool open = text_of(tree, "tagUsed") == "struct";
  for (const Json& child : inner(tree)) {
    const std::string kind = text_of(child, "kind");
    if (kind == "AccessSpecDecl") {
      open = text_of(child, "access") == "public";
    } else if (kind == "FieldDecl") {
      if (!open) {
        return std::nullopt;
      }
      fields.emplace_back(text_of(child, "name"), type_text(child));
    }
  }
  return fields;
}

// "<int,double>", of an instance of a template.
std::string arguments_of(const Json& instance) {
  std::vector<std::string> arguments;
  for (const Json& one : inner(instance)) {
    if (text_of(one, "kind") == "TemplateArgument") {
      arguments.push_back(one.contains("type") ? one.at("type").value("qualType", "")
                                               : std::to_string(one.value("value", 0)));
    }
  }
  return without_spaces(fmt::format("<{}>", fmt::join(arguments, ",")));
}

const Json* instance_of(const Json& tree, const std::string& arguments) {
  for (const Json& child : inner(tree)) {
    if (text_of(child, "kind") == "ClassTemplateSpecializationDecl" && is_whole_record(child) &&
        arguments_of(child) == arguments) {
      return &child;
    }
  }
  return nullptr;
}

// The class itself; null where it is none, or inherits some.
const Json* find_record(const std::vector<Json>& trees, const std::string& name) {
  const std::string base = name.substr(0, name.find('<'));
  const Json* found = nullptr;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (name_in(trees, i) != plain_name(base)) {
      continue;
    }
    if (base != name && text_of(trees[i], "kind") == "ClassTemplateDecl") {
      found = instance_of(trees[i], without_spaces(name.substr(base.size())));
    } else if (base == name && is_whole_record(trees[i])) {
      found = &trees[i];
    }
  }
  return found;
}

// A constructor may give constants other values.
bool has_constructors(const Json& tree) {
  return std::ranges::any_of(inner(tree), [&tree](const Json& child) {
    const std::string kind = text_of(child, "kind");
    return (kind == "CXXConstructorDecl" || kind == "FunctionTemplateDecl") &&
           !child.value("isImplicit", false) &&
           (kind == "CXXConstructorDecl" || text_of(child, "name") == text_of(tree, "name"));
  });
}

bool is_constant(const Json& field) {
  const std::string type = type_text(field);
  return field.value("hasInClassInitializer", false) && type.starts_with("const ") &&
         type.find_first_of("*&") == std::string::npos && !field.value("mutable", false);
}

// `Blur{5}` gives a constant of an aggregate another value than its class does.
bool is_aggregate(const Json& tree) {
  return tree.value("definitionData", Json::object()).value("isAggregate", false);
}

std::vector<std::string> state_of(const Json& tree) {
  const bool open = has_constructors(tree) || is_aggregate(tree);
  std::vector<std::string> fields;
  for (const Json& child : inner(tree)) {
    if (text_of(child, "kind") == "FieldDecl" && (open || !is_constant(child))) {
      fields.push_back(text_of(child, "name"));
    }
  }
  return fields;
}

}  // namespace

std::string name_in(const std::vector<Json>& trees, std::size_t at) {
  const std::string name = text_of(trees[at], "name");
  const bool named_behind =
      name.empty() && at + 1 < trees.size() && text_of(trees[at + 1], "kind") == "TypedefDecl";
  return named_behind ? text_of(trees[at + 1], "name") : name;
}

std::optional<std::vector<std::string>> state_fields(const std::vector<Json>& trees,
                                                     const std::string& name) {
  const Json* record = find_record(trees, name);
  return record == nullptr ? std::nullopt : std::optional(state_of(*record));
}

std::optional<RecordFields> record_fields(const std::vector<Json>& trees, const std::string& name) {
  const Json* record = find_record(trees, name);
  return record == nullptr ? std::nullopt : fields_of(*record);
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace kernelpro
