#include "coordinator/task/own_names.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/function_name.hpp"
#include "coordinator/task/record_fields.hpp"

namespace kernelpro {
namespace {

using namespace tree;
using Json = nlohmann::json;

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && !name.starts_with("std::") && std::ranges::all_of(name, is_name_letter);
}

// Words of types that no file declares anew.
bool is_known_word(const std::string& word) {
  static const std::set<std::string> known = {
      "const",   "unsigned", "signed",  "int",      "char",    "short",    "long",   "float",
      "double",  "bool",     "void",    "struct",   "class",   "enum",     "int8_t", "uint8_t",
      "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "__restrict"};
  const bool name = std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_';
  return !name || known.contains(word) || word.starts_with("std::");
}

// The enumerator's own number; without one it follows the one before it.
std::int64_t number_of_enumerator(const Json& constant, std::int64_t next) {
  for (const Json& child : inner(constant)) {
    if (const std::string value = text_of(child, "value"); !value.empty()) {
      return std::strtoll(value.c_str(), nullptr, 10);
    }
  }
  return next;
}

OwnEnum enum_of(const Json& declaration) {
  OwnEnum out;
  std::int64_t next = 0;
  bool negative = false;
  for (const Json& child : inner(declaration)) {
    if (text_of(child, "kind") == "EnumConstantDecl") {
      const std::int64_t value = number_of_enumerator(child, next);
      negative = negative || value < 0;
      out.enumerators.push_back({text_of(child, "name"), value});
      next = value + 1;
    }
  }
  const auto underlying = declaration.find("fixedUnderlyingType");
  if (underlying != declaration.end()) {
    const std::string plain = text_of(*underlying, "desugaredQualType");
    out.underlying = plain.empty() ? text_of(*underlying, "qualType") : plain;
  } else {
    out.underlying = negative ? "int" : "unsigned int";
  }
  return out;
}

}  // namespace

OwnNames::OwnNames(std::string unit, const std::vector<std::string>& flags, std::stop_token stop)
    : unit_(std::move(unit)), flags_(flags), stop_(std::move(stop)) {}

const OwnNames::Trees& OwnNames::declarations(const std::string& name) {
  if (const auto known = declarations_.find(name); known != declarations_.end()) {
    return known->second;
  }
  auto trees = clang_declarations(unit_, name, flags_, stop_);
  return declarations_[name] = trees.ok() ? *std::move(trees) : Trees();
}

std::optional<RecordFields> OwnNames::record(const std::string& name) {
  if (const auto known = records_.find(name); known != records_.end()) {
    return known->second;
  }
  const std::string base = name.substr(0, name.find('<'));
  if (!is_plain_name(base)) {
    return {};
  }
  auto fields = record_fields(declarations(base), name);
  const std::size_t scope = base.rfind("::");
  RecordFields none;
  for (auto& [field, type] : fields ? *fields : none) {
    type = resolved(type, scope == std::string::npos ? "" : base.substr(0, scope));
  }
  records_[name] = fields;
  return fields;
}

std::optional<OwnEnum> OwnNames::enumeration(const std::string& name) {
  if (!is_plain_name(name)) {
    return {};
  }
  const Trees& trees = declarations(name);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (text_of(trees[i], "kind") == "EnumDecl" && name_in(trees, i) == plain_name(name)) {
      OwnEnum found = enum_of(trees[i]);
      if (!found.enumerators.empty()) {
        return found;
      }
    }
  }
  return {};
}

std::string OwnNames::resolved(const std::string& type, const std::string& scope) {
  std::string out;
  for (std::size_t at = 0; at < type.size();) {
    std::size_t end = at;
    while (end < type.size() && is_name_letter(type[end])) {
      ++end;
    }
    out += end > at ? resolved_word(type.substr(at, end - at), scope) : type.substr(at, 1);
    at = std::max(end, at + 1);
  }
  return out;
}

// From the innermost namespace outwards.
std::string OwnNames::resolved_word(const std::string& word, const std::string& scope) {
  if (is_known_word(word)) {
    return word;
  }
  const auto [known, fresh] = words_.emplace(scope + " " + word, word);
  std::string around = scope;
  while (fresh) {
    std::string found = type_named(around.empty() ? word : around + "::" + word);
    if (!found.empty()) {
      known->second = std::move(found);
      break;
    }
    if (around.empty()) {
      break;
    }
    const std::size_t last = around.rfind("::");
    around = last == std::string::npos ? "" : around.substr(0, last);
  }
  return known->second;
}

std::string OwnNames::type_named(const std::string& whole) {
  static const std::set<std::string> types = {"CXXRecordDecl", "EnumDecl", "ClassTemplateDecl"};
  std::string found;
  const Trees& trees = declarations(whole);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::string kind = text_of(trees[i], "kind");
    const std::string type = type_text(trees[i]);
    if (name_in(trees, i) != plain_name(whole)) {
      continue;
    }
    const bool names_another = kind == "TypedefDecl" || kind == "TypeAliasDecl";
    if (names_another && !type.starts_with("struct ") && !type.starts_with("enum ")) {
      return type;
    }
    found = names_another || types.contains(kind) ? whole : found;
  }
  return found;
}

}  // namespace kernelpro
